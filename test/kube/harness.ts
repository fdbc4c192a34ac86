// A reflector under test: what it told its owner, what it logged, and waiting for either without sleeping.
import assert from 'node:assert/strict';
import type { LogFields, Logger } from '../../src/base/log.ts';
import type { ClusterAccess, Credentials } from '../../src/kube/access.ts';
import type { TransportTiming } from '../../src/kube/connection.ts';
import { createCredentials } from '../../src/kube/credentials.ts';
import type { Change } from '../../src/kube/object-feed.ts';
import type { RateLimitOptions } from '../../src/kube/rate-limit.ts';
import { createReflector, type ReflectorOptions, type ReflectorStatus } from '../../src/kube/reflector.ts';
import type { ReflectorTiming } from '../../src/kube/reflector-timing.ts';
import { constantText } from '../../src/kube/refreshed-file.ts';
import { createTransport, type Transport } from '../../src/kube/transport.ts';
import type { MisbehavingServer } from './misbehaving-server.ts';

/** Times short enough for tests, long enough not to strike by chance. */
export const FAST: ReflectorTiming = {
  watch: 60_000,
  overdue: 60_000,
  silence: 60_000,
  listSilence: 60_000,
  healthy: 5_000,
  firstWait: 20,
  longestWait: 50,
  shortWait: 20,
  absent: 20,
  remind: 60_000,
};

export interface Watched {
  /** The objects as the owner knows them: name to its `spec.value`. */
  readonly objects: ReadonlyMap<string, unknown>;
  readonly changes: readonly Change<unknown>[];
  /** Log lines above debug. */
  readonly lines: readonly string[];
  readonly transport: Transport;
  status(): ReflectorStatus;
  /** What `run` came to. */
  readonly ended: Promise<void>;
  /** Resolves when the condition holds; looked at after each change, log line and request. */
  until(what: string, condition: () => boolean): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WatchSetup {
  readonly server: MisbehavingServer;
  readonly url?: string;
  readonly authority?: string;
  readonly credentials?: Credentials;
  readonly timing?: Partial<ReflectorTiming>;
  readonly transportTiming?: Partial<TransportTiming>;
  readonly rate?: RateLimitOptions;
  readonly options?: Partial<ReflectorOptions<unknown>>;
}

export function accessTo({
  url,
  server,
  authority,
  credentials = createCredentials({}),
}: WatchSetup): ClusterAccess {
  return {
    server: new URL(url ?? server.url),
    ...(authority === undefined ? {} : { authority: constantText(authority) }),
    insecureSkipVerify: false,
    compression: true,
    credentials,
    origin: 'test',
  };
}

/** Starts a reflector of `/api/v1/services`. */
export function watchServices(setup: WatchSetup): Watched {
  const objects = new Map<string, unknown>();
  const changes: Change<unknown>[] = [];
  const lines: string[] = [];
  const checks = new Set<() => void>();
  const look = (): void => {
    for (const check of checks) check();
  };
  const say = (message: string, fields?: LogFields): void => {
    lines.push(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
    look();
  };
  const log: Logger = {
    error: (_error, message, fields) => say(message, fields),
    warn: say,
    info: say,
    debug: look,
  };
  const transport = createTransport({
    access: accessTo(setup),
    log,
    userAgent: 'test',
    rate: setup.rate ?? { qps: 0, burst: 0 },
    ...(setup.transportTiming === undefined ? {} : { timing: setup.transportTiming }),
  });
  const reflector = createReflector<unknown>({
    transport,
    name: 'services',
    path: '/api/v1/services',
    decode: (object) => {
      const { spec } = object as { readonly spec?: { readonly value?: unknown } };
      return { value: spec?.value };
    },
    onChange(change) {
      changes.push(change);
      if (change.kind === 'set')
        objects.set(change.key, (change.value as { readonly value?: unknown }).value);
      else objects.delete(change.key);
      look();
    },
    onSynced: look,
    log,
    timing: { ...FAST, ...setup.timing },
    ...setup.options,
  });
  const stopper = new AbortController();
  const running = reflector.run(stopper.signal);
  setup.server.onRequest = look;

  async function stop(): Promise<void> {
    stopper.abort();
    await running;
    transport.close();
  }
  return {
    objects,
    changes,
    lines,
    transport,
    status: reflector.status,
    ended: running,
    until(what, condition) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          checks.delete(check);
          reject(
            new assert.AssertionError({
              message: `${what}: not within 20 s; objects ${[...objects.keys()].join(' ')}; log:\n${lines.join('\n')}`,
            }),
          );
        }, 20_000);
        const check = (): void => {
          if (!condition()) return;
          clearTimeout(late);
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
