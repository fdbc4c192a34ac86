// What every controller is given.
import type { Logger } from '../../base/log.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { ClusterApi } from '../api/cluster-api.ts';
import type { Answer } from '../api/status.ts';

export interface ControllerContext {
  readonly api: ClusterApi;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Reasons for which a controller's write fails in the ordinary course of things: the watch will tell it why. */
const ORDINARY = ['NotFound', 'Conflict', 'AlreadyExists', 'Forbidden'];

/** Takes note of a write's outcome: what a controller got wrong is logged. */
export function settle({ log }: ControllerContext, what: string, answer: Answer): ApiObject | undefined {
  if (answer.ok) return answer.object;
  const { reason = '', message = '' } = answer.status;
  const fields = { what, reason, status: message };
  if (ORDINARY.includes(reason)) log.debug(2, 'a controller came too late', fields);
  else log.warn('a controller could not write', fields);
  return undefined;
}
