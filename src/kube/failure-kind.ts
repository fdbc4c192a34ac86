// What an error means for list and watch.
import type { PointsmanError } from '../base/errors.ts';
import { apiStatusOf } from './api-status.ts';

export type FailureKind =
  /** The version asked for is gone from the server's history: 410. */
  | 'expired'
  /** The version asked for lies in the server's future: it was restored from a backup, or lags behind another. */
  | 'ahead'
  /** The request as such is not understood. */
  | 'unsupported'
  /** The resource is not served. */
  | 'absent'
  | 'denied'
  /** Too many requests or an error of the server's own. */
  | 'busy'
  | 'garbled'
  | 'unreachable'
  /** We have no credentials to present. */
  | 'credentials';

const UNSUPPORTED: ReadonlySet<number> = new Set([400, 405, 406, 415, 422, 501]);

export function failureKind(error: PointsmanError): FailureKind {
  if (error.code === 'E_API_UNREACHABLE') return 'unreachable';
  if (error.code === 'E_KUBECONFIG' || error.code === 'E_CREDENTIAL_PLUGIN') return 'credentials';
  const answer = apiStatusOf(error);
  if (answer === undefined) return 'garbled';
  const { status, reason, causes } = answer;
  if (status === 410 || reason === 'Expired' || reason === 'Gone') return 'expired';
  if (causes.includes('ResourceVersionTooLarge') || error.message.includes('Too large resource version'))
    return 'ahead';
  if (UNSUPPORTED.has(status)) return 'unsupported';
  if (status === 404) return 'absent';
  if (status === 401 || status === 403) return 'denied';
  return 'busy';
}
