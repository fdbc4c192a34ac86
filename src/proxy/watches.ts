// The watches of the proxy, wired to the intake.

import type { Change } from '../kube/object-feed.ts';
import { createReflector, type Reflector } from '../kube/reflector.ts';
import {
  ENDPOINT_SLICES,
  ownNode,
  SERVICE_CIDRS,
  SERVICES,
  type WatchedResource,
} from '../kube/resources.ts';
import type { Transport } from '../kube/transport.ts';
import { decodeEndpointSlice } from '../model/endpoint-slice.ts';
import { decodeNode } from '../model/node.ts';
import { decodeService } from '../model/service.ts';
import { decodeServiceCidr } from '../model/service-cidr.ts';
import type { Log } from '../observe/log.ts';
import type { CacheState } from '../observe/own-metrics.ts';
import type { Intake } from './intake.ts';

export interface WatchesOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly intake: Intake;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Watches {
  /** Resolves when Services and EndpointSlices were listed. */
  readonly listed: Promise<void>;
  /** Resolves when the own Node and the ServiceCIDRs were listed, whether they are there or not. */
  readonly settingsListed: Promise<void>;
  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  caches(): readonly CacheState[];
}

export function createWatches({ transport, nodeName, intake, log, now }: WatchesOptions): Watches {
  const reflectors = new Map<string, Reflector>();

  /** Resolves when the resource was listed. */
  function watch<T>(
    resource: WatchedResource,
    decode: (object: unknown) => T | undefined,
    onChange: (change: Change<T>) => void,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reflector = createReflector<T>({
      transport,
      ...resource,
      decode,
      onChange,
      onSynced: resolve,
      log: log.room(`kube-${resource.name}`),
    });
    reflectors.set(resource.name, reflector);
    return promise;
  }

  const services = watch(SERVICES, decodeService, (change) => intake.service(change));
  const slices = watch(ENDPOINT_SLICES, decodeEndpointSlice, (change) => intake.slice(change));
  const node = watch(ownNode(nodeName), decodeNode, (change) => intake.node(change));
  const cidrs = watch(SERVICE_CIDRS, decodeServiceCidr, (change) => intake.serviceCidr(change));
  return {
    listed: Promise.all([services, slices]).then(() => {}),
    settingsListed: Promise.all([node, cidrs]).then(() => {}),
    async run(signal) {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.run(signal)));
    },
    caches() {
      return [...reflectors].map(([resource, reflector]) => {
        const status = reflector.status();
        const contact = status.lastContactAt;
        return {
          resource,
          ageSeconds: contact === undefined ? undefined : Math.max(0, now() - contact) / 1000,
          objects: status.objects,
          inStep: status.connected,
          restarts: status.restarts,
        };
      });
    },
  };
}
