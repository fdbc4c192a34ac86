// What a scrape of Pointsman gets when all has happened once, as series with their labels.
import { createMetrics, type MetricsOptions } from '../../src/observe/metrics.ts';

export interface Series {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** Of every mode that exists. */
export async function exposedSeries(): Promise<readonly Series[]> {
  return [...(await exposedIn('nftables')), ...(await exposedIn('iptables'))];
}

async function exposedIn(kind: MetricsOptions['mode']['kind']): Promise<readonly Series[]> {
  const options: MetricsOptions = {
    version: '1.2.3',
    features: [],
    mode: {
      kind,
      rules: () => [{ family: 'IPv4', table: 'nat', total: 1, last: 1 }],
      partialFailures: () => 0,
    },
    families: ['IPv4', 'IPv6'],
    process: true,
    sources: {
      caches: () => [{ resource: 'services', ageSeconds: 1, objects: 1, inStep: true, restarts: 0 }],
      quarantined: () => ({ object: 0, entry: 0 }),
      clashes: () => 0,
      portClashes: () => 0,
      healthCheckSockets: () => ({ open: 0, waiting: 0 }),
      conntrack: () => ({ entries: 1, limit: 2 }),
      entries: () => 1,
      kernelThreadRestarts: () => 0,
      configFile: () => ({ refused: undefined, applied: 0, refusals: 0 }),
    },
  };
  const metrics = createMetrics(options);
  const { upstream, own } = metrics;
  upstream.syncQueued(1);
  upstream.syncDone({ families: ['IPv4', 'IPv6'], full: true, seconds: 1, at: 1 });
  upstream.syncDone({ families: ['IPv4', 'IPv6'], full: false, seconds: 1, at: 1 });
  upstream.syncFailed();
  upstream.noLocalEndpoints({ internal: { IPv4: 0, IPv6: 0 }, external: { IPv4: 0, IPv6: 0 } });
  for (const family of ['IPv4', 'IPv6'] as const) {
    upstream.conntrackCleaned(family, 1, 1);
    upstream.programmed(family, 1);
  }
  for (const status of [200, 503]) {
    upstream.healthz(status);
    upstream.livez(status);
  }
  for (const status of [200, 403, 500, 0])
    upstream.request({ method: 'GET', host: 'a:6443', status, seconds: 1 });
  for (const cause of ['start', 'failure', 'foreign-change', 'audit'] as const) own.reconciled(cause);
  own.committed({ messages: 1, kernelMs: 1, stages: { wait: 1, plan: 1, commit: 1 } });
  return seriesOf(await metrics.text());
}

function seriesOf(text: string): Series[] {
  return [...text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)].map(([, metric = '', labels = '']) => ({
    metric,
    labels: new Map(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  }));
}
