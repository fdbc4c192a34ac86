// Waiting for the cluster to be in some state, by its events.
import { PointsmanError } from '../base/errors.ts';
import type { ApiObject } from './api/api-object.ts';
import { type ClusterApi, itemsOf, type ResourceName } from './api/cluster-api.ts';

export interface UntilOptions {
  /** Undefined for all namespaces. */
  readonly namespace?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 30_000;

/**
 * Resolves with the objects of a resource as soon as `holds` is true of them; looks at each change. Throws E_LAB after
 * the time, 30 s unless said otherwise.
 *
 * @param what what is waited for, for the error: `Pods to be ready`
 */
export async function until<T extends ApiObject>(
  api: ClusterApi,
  resource: ResourceName,
  what: string,
  holds: (objects: readonly T[]) => boolean,
  { namespace, timeoutMs = TIMEOUT_MS, signal }: UntilOptions = {},
): Promise<readonly T[]> {
  // What is stored under a resource has been decoded by its schema.
  const look = (): readonly T[] => itemsOf(api.list(resource, { namespace })) as readonly T[];
  const { promise, resolve, reject } = Promise.withResolvers<readonly T[]>();
  const check = (): void => {
    const objects = look();
    if (holds(objects)) resolve(objects);
  };
  const fail = (why: string): void => reject(new PointsmanError('E_LAB', `waited for ${what}: ${why}`));
  const onAbort = (): void => fail('given up');
  const watch = api.watch(resource, { namespace }, 'now', check);
  if (!watch.ok) throw new PointsmanError('E_LAB', `waited for ${what}: ${watch.status.message ?? ''}`);
  const timer = setTimeout(() => fail(`not in ${timeoutMs / 1000} s`), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    check();
    if (signal?.aborted) onAbort();
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    watch[Symbol.dispose]();
  }
}
