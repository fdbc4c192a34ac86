// The servers of health check node ports: one owner for all of them (behaviour spec 6.2).
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Family } from '../model/address.ts';
import { type ServiceHealthFacts, serviceHealthAnswer } from './service-health-answer.ts';
import { openServiceHealthListener, type ServiceHealthListener } from './service-health-listener.ts';

/** What a health check node port tells. */
export interface ServiceHealthPort extends ServiceHealthFacts {
  /** Distinct addresses of ready endpoints on this node, for each family that is served. */
  readonly counts: ReadonlyMap<Family, number>;
}

export interface ServiceHealthOptions {
  /** Whether the proxy writes rules in time; the Node's standing has no part in it. */
  readonly healthy: () => boolean;
  readonly log: Logger;
  /** A port cannot be opened; told once until it is open or no longer wanted. */
  readonly failed?: (service: ServiceHealthFacts, port: number, error: PointsmanError) => void;
  readonly firstRetryMs?: number;
}

export interface ServiceHealth extends AsyncDisposable {
  /** Sets ports or, with undefined, closes them; others stay as they are. What closes gives way to what opens. */
  apply(changes: ReadonlyMap<number, ServiceHealthPort | undefined>): void;
  /** Where to listen from now on; on all addresses of a family at first, and when told `all`. */
  listenOn(addresses: ListenAddresses): void;
  /** Sockets that are open, and that wait for an address or port. */
  readonly counts: { readonly open: number; readonly waiting: number };
}

/** What of this node serves health check node ports. */
export type ListenAddresses = Readonly<Record<Family, 'all' | readonly string[]>>;

const ALL_ADDRESSES: Readonly<Record<Family, readonly string[]>> = { IPv4: ['0.0.0.0'], IPv6: ['::'] };
const FIRST_RETRY_MS = 1_000;

export function createServiceHealth(options: ServiceHealthOptions): ServiceHealth {
  const { healthy, log, firstRetryMs = FIRST_RETRY_MS } = options;
  let addresses = ALL_ADDRESSES;
  const ports = new Map<number, ServiceHealthPort>();
  const listeners = new Map<string, ServiceHealthListener>();
  const closing = new Map<string, Promise<void>>();

  const keysOf = (port: number, wanted: ServiceHealthPort | undefined): readonly string[] =>
    [...(wanted?.counts.keys() ?? [])].flatMap((family) =>
      addresses[family].map((address) => `${family} ${address} ${port}`),
    );

  const open = (key: string, port: number): void => {
    const [family, address] = key.split(' ') as [Family, string];
    const fields = (): Readonly<Record<string, unknown>> => {
      const service = ports.get(port);
      return { service: `${service?.namespace}/${service?.name}`, port, address };
    };
    const listener = openServiceHealthListener({
      address,
      port,
      firstRetryMs,
      after: closing.get(key),
      answer(_request, response) {
        const facts = ports.get(port);
        if (facts === undefined) {
          response.destroy();
          return;
        }
        const { status, headers, body } = serviceHealthAnswer(
          facts,
          facts.counts.get(family) ?? 0,
          healthy(),
        );
        response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
      },
      opened: () => log.debug(2, 'Opening healthcheck', fields()),
      failed(cause) {
        const service = ports.get(port);
        const error = new PointsmanError(
          'E_BIND',
          `the health check of a Service cannot listen on ${address} port ${port}: ${cause.message}`,
          {
            cause,
            hint: 'end the program that has the port, or give the Service another healthCheckNodePort',
          },
        );
        log.error(error, 'Failed to start healthcheck, trying again until it opens', fields());
        if (service !== undefined) options.failed?.(service, port, error);
      },
    });
    listeners.set(key, listener);
  };

  const close = (key: string): void => {
    const listener = listeners.get(key);
    if (listener === undefined) return;
    listeners.delete(key);
    log.debug(2, 'Closing healthcheck', { listener: key });
    const closed = listener.close().then(() => {
      if (closing.get(key) === closed) closing.delete(key);
    });
    closing.set(key, closed);
  };

  return {
    apply(changes) {
      for (const [port, wanted] of changes) {
        const kept = new Set(keysOf(port, wanted));
        for (const key of keysOf(port, ports.get(port))) if (!kept.has(key)) close(key);
        if (wanted === undefined) ports.delete(port);
        else ports.set(port, wanted);
      }
      for (const [port, wanted] of changes) {
        for (const key of keysOf(port, wanted)) if (!listeners.has(key)) open(key, port);
      }
    },
    listenOn(wanted) {
      const of = (family: Family): readonly string[] => {
        const listed = wanted[family];
        return listed === 'all' ? ALL_ADDRESSES[family] : listed;
      };
      addresses = { IPv4: of('IPv4'), IPv6: of('IPv6') };
      const kept = new Set([...ports].flatMap(([port, facts]) => keysOf(port, facts)));
      for (const key of [...listeners.keys()]) if (!kept.has(key)) close(key);
      for (const [port, facts] of ports)
        for (const key of keysOf(port, facts)) if (!listeners.has(key)) open(key, port);
    },
    get counts() {
      const open = [...listeners.values()].filter(({ listening }) => listening).length;
      return { open, waiting: listeners.size - open };
    },
    async [Symbol.asyncDispose]() {
      for (const key of [...listeners.keys()]) close(key);
      ports.clear();
      await Promise.all(closing.values());
    },
  };
}
