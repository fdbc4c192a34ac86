// The metrics that kube-proxy in nftables mode has and whose meaning exists here (behaviour spec 6.3), so that
// dashboards and alerts go on working.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Family } from '../model/address.ts';

/** One sync as it ended well. */
export interface SyncDone {
  readonly families: readonly Family[];
  /** Whether it compared everything with the kernel, or committed a change only. */
  readonly full: boolean;
  readonly seconds: number;
  /** Seconds since 1970. */
  readonly at: number;
}

/** One exchange with the API server. */
export interface ApiRequest {
  readonly method: string;
  readonly host: string;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly seconds: number;
}

/** Changes of Services and EndpointSlices that no sync has committed yet. */
export interface PendingCounts {
  readonly services: number;
  readonly slices: number;
}

/** Service ports that keep traffic on the node and have no endpoint there, by side of the policy. */
export type NoLocalEndpoints = Readonly<Record<'internal' | 'external', Readonly<Record<Family, number>>>>;

/** What only one mode has. */
export interface ModeSources {
  readonly kind: 'nftables' | 'iptables';
  /** Rules of ours, and those of the last restore. */
  readonly rules: () => readonly {
    readonly family: Family;
    readonly table: string;
    readonly total: number;
    readonly last: number;
  }[];
  readonly partialFailures: () => number;
}

export interface UpstreamMetrics {
  /** `at` in seconds since 1970. */
  syncQueued(at: number): void;
  syncDone(sync: SyncDone): void;
  syncFailed(): void;
  /** A look at the conntrack table, and how many flows it ended. */
  conntrackCleaned(family: Family, seconds: number, ended: number): void;
  /** Seconds from the change of a slice's endpoints to the kernel's ack. */
  programmed(family: Family, seconds: number): void;
  serviceChanged(): void;
  sliceChanged(): void;
  pending(counts: PendingCounts): void;
  noLocalEndpoints(counts: NoLocalEndpoints): void;
  healthz(status: number): void;
  livez(status: number): void;
  request(request: ApiRequest): void;
}

/** 0.001 × 2^k, k from 0 to 14. */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, k) => 2 ** k / 1000);

/** .25, .5, then seconds to a minute, fives to two, half minutes to five. */
const PROGRAMMING_BUCKETS = [0.25, 0.5, ...range(1, 59, 1), ...range(60, 115, 5), ...range(120, 300, 30)];

/** rest_client's of component-base. */
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

function range(first: number, last: number, step: number): readonly number[] {
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => first + index * step);
}

export function createUpstreamMetrics(
  registry: Registry,
  families: readonly Family[],
  mode: ModeSources,
): UpstreamMetrics {
  const registers = [registry];
  const byFamily = ['ip_family'] as const;
  const histogram = (name: string, help: string, buckets: number[]): Histogram<'ip_family'> =>
    new Histogram({ name, help, labelNames: byFamily, buckets, registers });
  const gauge = (name: string, help: string): Gauge<'ip_family'> =>
    new Gauge({ name, help, labelNames: byFamily, registers });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const countedByCode = (name: string, help: string): Counter<'code'> =>
    new Counter({ name, help, labelNames: ['code'], registers });

  const durations = {
    all: histogram('kubeproxy_sync_proxy_rules_duration_seconds', 'Time of a sync', SYNC_BUCKETS),
    full: histogram(
      'kubeproxy_sync_full_proxy_rules_duration_seconds',
      'Time of a sync that compares everything with the kernel',
      SYNC_BUCKETS,
    ),
    partial: histogram(
      'kubeproxy_sync_partial_proxy_rules_duration_seconds',
      'Time of a sync that commits what changed',
      SYNC_BUCKETS,
    ),
  };
  const lastSync = gauge('kubeproxy_sync_proxy_rules_last_timestamp_seconds', 'When the last sync succeeded');
  const lastQueued = gauge(
    'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds',
    'When the last sync was asked for',
  );
  const programming = histogram(
    'kubeproxy_network_programming_duration_seconds',
    'Time from a change of endpoints to its being in the kernel',
    PROGRAMMING_BUCKETS,
  );
  const endpointChanges = counter(
    'kubeproxy_sync_proxy_rules_endpoint_changes_total',
    'Changes of EndpointSlices',
  );
  const serviceChanges = counter('kubeproxy_sync_proxy_rules_service_changes_total', 'Changes of Services');
  const endpointsPending = new Gauge({
    name: 'kubeproxy_sync_proxy_rules_endpoint_changes_pending',
    help: 'Changed EndpointSlices that are not committed yet',
    registers,
  });
  const servicesPending = new Gauge({
    name: 'kubeproxy_sync_proxy_rules_service_changes_pending',
    help: 'Changed Services that are not committed yet',
    registers,
  });
  const noLocal = new Gauge({
    name: 'kubeproxy_sync_proxy_rules_no_local_endpoints_total',
    help: 'Service ports with a Local policy and endpoints, but none on this node',
    labelNames: ['traffic_policy', 'ip_family'],
    registers,
  });
  const failures = new Counter({
    name:
      mode.kind === 'nftables'
        ? 'kubeproxy_sync_proxy_rules_nftables_sync_failures_total'
        : 'kubeproxy_sync_proxy_rules_iptables_restore_failures_total',
    help: 'Syncs that the kernel did not take',
    labelNames: byFamily,
    registers,
  });
  if (mode.kind === 'iptables') addIptablesMetrics(registry, mode);
  const conntrackTimes = histogram(
    'kubeproxy_conntrack_reconciler_sync_duration_seconds',
    'Time to look for connections to endpoints that are gone',
    SYNC_BUCKETS,
  );
  const conntrackEnded = new Counter({
    name: 'kubeproxy_conntrack_reconciler_deleted_entries_total',
    help: 'Connections to endpoints that are gone, ended',
    labelNames: byFamily,
    registers,
  });
  const healthz = countedByCode('kubeproxy_proxy_healthz_total', 'Answers of /healthz');
  const livez = countedByCode('kubeproxy_proxy_livez_total', 'Answers of /livez');
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const requestTimes = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time of a request to the API server until its answer began',
    labelNames: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
    registers,
  });

  return {
    syncQueued(at) {
      for (const ip_family of families) lastQueued.set({ ip_family }, at);
    },
    syncDone(sync) {
      const kind = sync.full ? durations.full : durations.partial;
      for (const ip_family of sync.families) {
        durations.all.observe({ ip_family }, sync.seconds);
        kind.observe({ ip_family }, sync.seconds);
      }
      for (const ip_family of families) lastSync.set({ ip_family }, sync.at);
    },
    syncFailed() {
      for (const ip_family of families) failures.inc({ ip_family });
    },
    conntrackCleaned(ip_family, seconds, ended) {
      conntrackTimes.observe({ ip_family }, seconds);
      conntrackEnded.inc({ ip_family }, ended);
    },
    programmed(ip_family, seconds) {
      programming.observe({ ip_family }, seconds);
    },
    serviceChanged() {
      serviceChanges.inc();
    },
    sliceChanged() {
      endpointChanges.inc();
    },
    pending({ services, slices }) {
      servicesPending.set(services);
      endpointsPending.set(slices);
    },
    noLocalEndpoints(counts) {
      for (const traffic_policy of ['internal', 'external'] as const)
        for (const ip_family of families)
          noLocal.set({ traffic_policy, ip_family }, counts[traffic_policy][ip_family]);
    },
    healthz(status) {
      healthz.inc({ code: status });
    },
    livez(status) {
      livez.inc({ code: status });
    },
    request({ method, host, status, seconds }) {
      requests.inc({ code: status === 0 ? '<error>' : status, method, host });
      requestTimes.observe({ verb: method, host }, seconds);
    },
  };
}

function addIptablesMetrics(registry: Registry, { rules, partialFailures }: ModeSources): void {
  const registers = [registry];
  for (const [name, help, key] of [
    ['kubeproxy_sync_proxy_rules_iptables_total', 'Rules of the proxy', 'total'],
    ['kubeproxy_sync_proxy_rules_iptables_last', 'Rules that the last sync wrote', 'last'],
  ] as const)
    new Gauge({
      name,
      help,
      labelNames: ['table', 'ip_family'],
      registers,
      collect() {
        for (const count of rules()) this.set({ table: count.table, ip_family: count.family }, count[key]);
      },
    });
  new Counter({
    name: 'kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total',
    help: 'Restores of a change that failed',
    registers,
    collect() {
      this.reset();
      this.inc(partialFailures());
    },
  });
}
