import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createMetrics, type Metrics } from './metrics.ts';
import type { OwnSources } from './own-metrics.ts';
import type { ModeSources } from './upstream-metrics.ts';

const sources: OwnSources = {
  caches: () => [
    { resource: 'services', ageSeconds: 1.5, objects: 7, inStep: true, restarts: 2 },
    { resource: 'node', ageSeconds: undefined, objects: 0, inStep: false, restarts: 0 },
  ],
  quarantined: () => ({ object: 1, entry: 2 }),
  clashes: () => 3,
  entries: () => 4,
  portClashes: () => 6,
  healthCheckSockets: () => ({ open: 7, waiting: 8 }),
  conntrack: () => ({ entries: 9, limit: 10 }),
  kernelThreadRestarts: () => 5,
  configFile: () => ({ refused: undefined, applied: 2, refusals: 1 }),
};

const mode: ModeSources = { kind: 'nftables', rules: () => [], partialFailures: () => 0 };
const features = [{ name: 'ComponentStatusz', on: true }];

function used(): Metrics {
  const metrics = createMetrics({
    version: '1.2.3',
    families: ['IPv4', 'IPv6'],
    sources,
    process: false,
    features,
    mode,
  });
  const { upstream, own } = metrics;
  upstream.syncQueued(1_796_090_442.25);
  upstream.syncDone({ families: ['IPv4', 'IPv6'], full: true, seconds: 0.003, at: 1_796_090_442.5 });
  upstream.syncDone({ families: ['IPv4'], full: false, seconds: 0.0005, at: 1_796_090_443.5 });
  upstream.syncFailed();
  for (const family of ['IPv4', 'IPv6'] as const) upstream.conntrackCleaned(family, 0.01, 2);
  upstream.programmed('IPv4', 0.3);
  upstream.serviceChanged();
  upstream.sliceChanged();
  upstream.pending({ services: 1, slices: 2 });
  upstream.noLocalEndpoints({ internal: { IPv4: 1, IPv6: 0 }, external: { IPv4: 0, IPv6: 2 } });
  upstream.healthz(200);
  upstream.livez(503);
  upstream.request({ method: 'GET', host: 'a:6443', status: 200, seconds: 0.01 });
  upstream.request({ method: 'GET', host: 'a:6443', status: 0, seconds: 3 });
  own.reconciled('start');
  own.committed({ messages: 9, kernelMs: 0.25, stages: { wait: 0.5, plan: 0.001, commit: 0.002 } });
  return metrics;
}

interface Shape {
  readonly type: string;
  readonly labels: readonly string[];
  readonly bounds: readonly string[];
}

/** Type, label names and bucket bounds of each metric in an exposition. */
function shapes(text: string): ReadonlyMap<string, Shape> {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((match) => [match[1], match[2]]));
  const found = new Map<string, { type: string; labels: Set<string>; bounds: Set<string> }>();
  for (const line of text.split('\n')) {
    const [, sample = '', labels = ''] = /^([a-z_]+)(?:\{(.*)\})? /.exec(line) ?? [];
    const name = types.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '');
    const type = types.get(name);
    if (type === undefined) continue;
    const shape = found.get(name) ?? { type, labels: new Set(), bounds: new Set() };
    found.set(name, shape);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      if (label === 'le') shape.bounds.add(value);
      else shape.labels.add(label);
    }
  }
  return new Map(
    [...found].map(([name, { type, labels, bounds }]) => [
      name,
      { type, labels: [...labels].sort(), bounds: [...bounds] },
    ]),
  );
}

/** What a kube-proxy v1.36 in nftables mode served. */
const recorded = shapes(
  readFileSync(new URL('../../test/fixtures/kube-proxy-nftables-metrics.txt', import.meta.url), 'utf8'),
);

/** Their meaning does not exist here yet. */
test("names, types, labels and buckets are kube-proxy's", async () => {
  const ours = shapes(await used().text());
  for (const [name, shape] of recorded) assert.deepEqual(ours.get(name), shape, name);
});

test('the programming latency has buckets from a quarter of a second to five minutes', async () => {
  const bounds = shapes(await used().text()).get('kubeproxy_network_programming_duration_seconds')?.bounds;
  assert.deepEqual(bounds?.slice(0, 4), ['0.25', '0.5', '1', '2']);
  assert.deepEqual(bounds?.slice(-4), ['240', '270', '300', '+Inf']);
  assert.equal(bounds?.length, 2 + 59 + 12 + 7 + 1);
});

test('samples say what happened', async () => {
  const text = await used().text();
  for (const line of [
    'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"} 2',
    'kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv6"} 1',
    'kubeproxy_sync_partial_proxy_rules_duration_seconds_count{ip_family="IPv4"} 1',
    'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv6"} 1796090443.5',
    'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"} 1796090442.25',
    'kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv4"} 1',
    'kubeproxy_sync_proxy_rules_service_changes_pending 1',
    'kubeproxy_sync_proxy_rules_endpoint_changes_pending 2',
    'kubeproxy_proxy_healthz_total{code="200"} 1',
    'kubeproxy_proxy_livez_total{code="503"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="a:6443"} 1',
    'pointsman_build_info{version="1.2.3"} 1',
    'kubernetes_feature_enabled{name="ComponentStatusz",stage=""} 1',
    'pointsman_cache_age_seconds{resource="services"} 1.5',
    'pointsman_cache_objects{resource="services"} 7',
    'pointsman_cache_in_step{resource="node"} 0',
    'pointsman_watch_restarts_total{resource="services"} 2',
    'pointsman_kernel_thread_restarts_total 5',
    'pointsman_quarantined{kind="entry"} 2',
    'pointsman_frontend_clashes 3',
    'pointsman_health_check_node_port_clashes 6',
    'pointsman_health_check_sockets{state="waiting"} 8',
    'pointsman_conntrack_entries 9',
    'pointsman_conntrack_limit 10',
    'kubeproxy_sync_proxy_rules_no_local_endpoints_total{traffic_policy="internal",ip_family="IPv4"} 1',
    'kubeproxy_sync_proxy_rules_no_local_endpoints_total{traffic_policy="external",ip_family="IPv6"} 2',
    'pointsman_entries 4',
    'pointsman_reconciles_total{cause="start"} 1',
    'pointsman_config_reloads_total{result="applied"} 2',
    'pointsman_config_reloads_total{result="refused"} 1',
    'pointsman_config_file_refused 0',
    'pointsman_commit_messages_total 9',
    'pointsman_sync_stage_seconds_sum{stage="wait"} 0.5',
  ])
    assert.ok(text.includes(`\n${line}\n`), line);
  assert.doesNotMatch(text, /pointsman_cache_age_seconds\{resource="node"\}/);
});

test('every metric of the process comes with the request for it', async () => {
  const metrics = createMetrics({ version: '1', families: ['IPv4'], sources, process: true, features, mode });
  assert.match(await metrics.text(), /^process_resident_memory_bytes \d+$/m);
  assert.doesNotMatch(await used().text(), /^process_/m);
});
