// An API without a server, for the controllers' tests.
import { setImmediate } from 'node:timers/promises';
import { silentLogger } from '../../base/log.ts';
import type { ApiObject } from '../api/api-object.ts';
import { type ClusterApi, itemsOf, type ResourceName } from '../api/cluster-api.ts';
import { startCluster } from '../api/start-cluster.ts';
import type { ControllerContext } from './controller-context.ts';

export interface ExampleCluster extends ControllerContext {
  readonly api: ClusterApi;
  /** The warnings of the controllers: an orderly test has none. */
  readonly warnings: readonly string[];
  objects<T extends ApiObject>(resource: ResourceName, namespace?: string): readonly T[];
  make(resource: ResourceName, object: ApiObject): ApiObject;
  /** Resolves when everybody has done what is to be done on this and the next turns of the event loop. */
  settled(): Promise<void>;
}

/** How many turns a chain of controllers needs at most: scheduler, kubelet, slices, and one in reserve each. */
const TURNS = 8;

export function exampleCluster(now: () => number = Date.now): ExampleCluster {
  const { api } = startCluster({
    serviceCidrs: [
      { family: 'IPv4', address: '10.96.0.0', prefix: 16 },
      { family: 'IPv6', address: 'fd00:96::', prefix: 112 },
    ],
    now,
  });
  const warnings: string[] = [];
  return {
    api,
    now,
    warnings,
    log: {
      ...silentLogger,
      warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
      error: (error, message) => void warnings.push(`${message}: ${error}`),
    },
    objects: <T extends ApiObject>(resource: ResourceName, namespace?: string) =>
      itemsOf(api.list(resource, { namespace })) as readonly T[],
    make(resource, object) {
      const answer = api.create(resource, object);
      if (!answer.ok) throw new Error(answer.status.message);
      if (object.status === undefined) return answer.object;
      const withStatus = api.updateStatus(resource, {
        ...answer.object,
        status: { ...(answer.object.status as object), ...(object.status as object) },
      });
      if (!withStatus.ok) throw new Error(withStatus.status.message);
      return withStatus.object;
    },
    async settled() {
      for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
    },
  };
}
