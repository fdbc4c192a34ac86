// Metrics that only Pointsman has.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What is known of one watched resource. */
export interface CacheState {
  readonly resource: string;
  /** Seconds since the server last sent anything about it; undefined before the first time. */
  readonly ageSeconds: number | undefined;
  readonly objects: number;
  readonly inStep: boolean;
  /** Lists and watches begun after the first. */
  readonly restarts: number;
}

/** What is counted elsewhere, asked at each scrape. */
export interface OwnSources {
  readonly caches: () => readonly CacheState[];
  /** Objects or entries that are set aside, by kind. */
  readonly quarantined: () => Readonly<Record<'object' | 'entry', number>>;
  /** Frontends that two Services claim. */
  readonly clashes: () => number;
  /** Node ports that are another Service's health check node port. */
  readonly portClashes: () => number;
  readonly entries: () => number;
  /** Sockets of health check node ports. */
  readonly healthCheckSockets: () => { readonly open: number; readonly waiting: number };
  /** The connection tracking table; undefined where the kernel does not tell. */
  readonly conntrack: () => { readonly entries: number; readonly limit: number } | undefined;
  readonly kernelThreadRestarts: () => number;
  /** How the configuration file fared; undefined without one. */
  readonly configFile: () => ConfigFileCounts | undefined;
}

export interface ConfigFileCounts {
  /** Present when the file as it is now is not in force. */
  readonly refused: unknown;
  readonly applied: number;
  readonly refusals: number;
}

export type ReconcileCause = 'start' | 'failure' | 'foreign-change' | 'audit';

/** What one sync sent to the kernel. */
export interface KernelWork {
  readonly messages: number;
  readonly kernelMs: number;
  /** Seconds. */
  readonly stages: Readonly<Record<'wait' | 'plan' | 'commit', number>>;
}

export interface OwnMetrics {
  reconciled(cause: ReconcileCause): void;
  committed(work: KernelWork): void;
}

const KERNEL_BUCKETS = Array.from({ length: 16 }, (_, k) => 2 ** k / 10_000);

export function createOwnMetrics(registry: Registry, version: string, sources: OwnSources): OwnMetrics {
  const registers = [registry];
  new Gauge({
    name: 'pointsman_build_info',
    help: 'Always 1; the label tells the version',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);

  const perCache = (name: string, help: string, value: (cache: CacheState) => number | undefined): void => {
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const cache of sources.caches()) {
          const number = value(cache);
          if (number !== undefined) this.set({ resource: cache.resource }, number);
        }
      },
    });
  };
  perCache(
    'pointsman_cache_age_seconds',
    'Time since the API server last sent anything about a resource',
    (cache) => cache.ageSeconds,
  );
  perCache('pointsman_cache_objects', 'Objects known of a resource', (cache) => cache.objects);
  perCache('pointsman_cache_in_step', '1 while the watch of a resource is open and in step', (cache) =>
    cache.inStep ? 1 : 0,
  );
  counted('pointsman_watch_restarts_total', 'Lists and watches begun after the first', ['resource'], () =>
    sources.caches().map(({ resource, restarts }) => ({ labels: { resource }, value: restarts })),
  );
  counted(
    'pointsman_kernel_thread_restarts_total',
    'How often the kernel thread was started anew',
    [],
    () => [{ labels: {}, value: sources.kernelThreadRestarts() }],
  );

  new Gauge({
    name: 'pointsman_quarantined',
    help: 'What is set aside: objects that cannot be read in part or whole, entries that the kernel refuses',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(sources.quarantined())) this.set({ kind }, count);
    },
  });
  new Gauge({
    name: 'pointsman_frontend_clashes',
    help: 'Frontends that more than one Service claims',
    registers,
    collect() {
      this.set(sources.clashes());
    },
  });
  new Gauge({
    name: 'pointsman_health_check_node_port_clashes',
    help: "Node ports that are another Service's health check node port",
    registers,
    collect() {
      this.set(sources.portClashes());
    },
  });
  new Gauge({
    name: 'pointsman_health_check_sockets',
    help: 'Sockets of health check node ports: open, or waiting for their address or port',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(sources.healthCheckSockets())) this.set({ state }, count);
    },
  });
  const conntrack = (name: string, help: string, key: 'entries' | 'limit'): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const table = sources.conntrack();
        if (table === undefined) this.remove();
        else this.set(table[key]);
      },
    });
  };
  conntrack('pointsman_conntrack_entries', 'Connections that the kernel tracks', 'entries');
  conntrack('pointsman_conntrack_limit', 'Connections that the kernel can track', 'limit');
  new Gauge({
    name: 'pointsman_entries',
    help: 'Frontends in the forwarding table',
    registers,
    collect() {
      this.set(sources.entries());
    },
  });

  counted('pointsman_config_reloads_total', 'Changes of the configuration file', ['result'], () => {
    const file = sources.configFile();
    if (file === undefined) return [];
    return [
      { labels: { result: 'applied' }, value: file.applied },
      { labels: { result: 'refused' }, value: file.refusals },
    ];
  });
  new Gauge({
    name: 'pointsman_config_file_refused',
    help: '1 while the configuration file cannot be used and an older one is in force',
    registers,
    collect() {
      this.set(sources.configFile()?.refused === undefined ? 0 : 1);
    },
  });

  const reconciles = new Counter({
    name: 'pointsman_reconciles_total',
    help: 'How often everything was compared with the kernel, and why',
    labelNames: ['cause'],
    registers,
  });
  const messages = new Counter({
    name: 'pointsman_commit_messages_total',
    help: 'Messages sent to the kernel to change it',
    registers,
  });
  const kernelTime = new Histogram({
    name: 'pointsman_commit_kernel_seconds',
    help: 'Time that a sync spent in the kernel',
    buckets: KERNEL_BUCKETS,
    registers,
  });

  const stageTimes = new Histogram({
    name: 'pointsman_sync_stage_seconds',
    help: 'Where the time of a change goes once the API server told of it: waiting for a sync, planning, the data path',
    labelNames: ['stage'],
    buckets: KERNEL_BUCKETS,
    registers,
  });

  return {
    reconciled(cause) {
      reconciles.inc({ cause });
    },
    committed(work) {
      messages.inc(work.messages);
      if (work.messages === 0) return;
      kernelTime.observe(work.kernelMs / 1000);
      for (const [stage, seconds] of Object.entries(work.stages)) stageTimes.observe({ stage }, seconds);
    },
  };

  /** A counter whose value is kept elsewhere. */
  function counted<T extends string>(
    name: string,
    help: string,
    labelNames: readonly T[],
    values: () => readonly { readonly labels: Partial<Record<T, string>>; readonly value: number }[],
  ): void {
    new Counter<T>({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, value } of values()) this.inc(labels, value);
      },
    });
  }
}
