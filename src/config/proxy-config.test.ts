import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { DEFAULT_VALUES, type FlagValues } from './flag-values.ts';
import { configurationOf } from './from-flags.ts';
import { NO_OWN } from './no-own.ts';
import { type ProxyConfig, proxyConfig } from './proxy-config.ts';
import { validate } from './validate.ts';

const problems = (values: Partial<FlagValues>): readonly string[] =>
  validate(configurationOf({ ...DEFAULT_VALUES, ...values }));
const configOf = (values: Partial<FlagValues>, hostname = 'n'): ProxyConfig =>
  proxyConfig(configurationOf({ ...DEFAULT_VALUES, ...values }), { hostname, master: '', own: NO_OWN });

test('the defaults are valid', () => {
  assert.deepEqual(problems({}), []);
});

test("invalid values are named with upstream's words", () => {
  const table: readonly (readonly [Partial<FlagValues>, readonly string[]])[] = [
    [
      { clusterCidr: '10.244.0.0' },
      [
        'KubeProxyConfiguration.DetectLocalConfiguration.ClusterCIDRs[0]: Invalid value: "10.244.0.0": must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
      ],
    ],
    [
      { clusterCidr: '10.0.0.0/8,11.0.0.0/8' },
      [
        'KubeProxyConfiguration.DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48])',
      ],
    ],
    [{ clusterCidr: '10.244.0.0/16,fd00:244::/48' }, []],
    [
      { oomScoreAdj: -1001 },
      [
        'KubeProxyConfiguration.KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: -1001: must be within the range [-1000, 1000]',
      ],
    ],
    [
      { minSyncPeriodMs: 60_000 },
      [
        'KubeProxyConfiguration.SyncPeriod: Invalid value: "1m0s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
      ],
    ],
    [
      { syncPeriodMs: 0, minSyncPeriodMs: 0 },
      ['KubeProxyConfiguration.SyncPeriod: Invalid value: "0s": must be greater than 0'],
    ],
    [
      { configSyncPeriodMs: -1 },
      ['KubeProxyConfiguration.ConfigSyncPeriod: Invalid value: "-1ms": must be greater than 0'],
    ],
    [
      { kubeApiBurst: -1 },
      [
        'KubeProxyConfiguration.ClientConnection.Burst: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      { detectLocalMode: 'Guess' },
      [
        'KubeProxyConfiguration.DetectLocalMode: Unsupported value: "Guess": supported values: "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix", ""',
      ],
    ],
    [{ metricsPort: 0 }, ['KubeProxyConfiguration.MetricsBindAddress: Invalid value: "": must be IP:port']],
    [
      { proxyMode: 'userspace' },
      [
        'KubeProxyConfiguration.Mode.ProxyMode: Invalid value: "userspace": must be iptables, ipvs, nftables or blank (blank means nftables)',
      ],
    ],
  ];
  for (const [values, expected] of table) assert.deepEqual(problems(values), expected);
});

test('several problems are told in one line', () => {
  assert.throws(
    () => configOf({ oomScoreAdj: 2000, clusterCidr: 'x' }),
    (error) =>
      error instanceof PointsmanError &&
      /^failed validate: \[KubeProxy.*, KubeProxy.*\]$/.test(error.message),
  );
});

test('modes of upstream that are not there yet say so', () => {
  for (const proxyMode of ['ipvs'])
    assert.throws(() => configOf({ proxyMode }), {
      message: `proxy mode ${proxyMode} is not there yet: nftables and iptables are`,
    });
  assert.equal(configOf({ proxyMode: '' }).mode, 'nftables');
  assert.equal(configOf({ proxyMode: 'iptables' }).mode, 'iptables');
});

test('the deprecated ports complete addresses without one, and zero closes the health server', () => {
  const of = configOf;
  assert.deepEqual(of({}).healthz, { address: '0.0.0.0', port: 10_256 });
  assert.deepEqual(of({ healthzPort: 1234 }).healthz, { address: '0.0.0.0', port: 10_256 });
  assert.deepEqual(of({ healthzBindAddress: '::1', healthzPort: 1234 }).healthz, {
    address: '::1',
    port: 1234,
  });
  assert.equal(of({ healthzPort: 0 }).healthz, undefined);
  assert.deepEqual(of({ metricsBindAddress: '10.0.0.1' }).metrics, { address: '10.0.0.1', port: 10_249 });
});

test("the node's name is the override or the host's, trimmed and in lower case", () => {
  const nameOf = (override: string, hostname: string): string =>
    configOf({ hostnameOverride: override }, hostname).nodeName;
  assert.equal(nameOf('', ' Node-A\n'), 'node-a');
  assert.equal(nameOf(' Node-B ', 'x'), 'node-b');
  assert.throws(() => nameOf(' ', 'x'), { message: 'failed complete: empty hostname-override is invalid' });
  assert.throws(() => nameOf('', ''), { message: 'failed complete: empty hostname is invalid' });
});

test('a rate of zero is the default one, and a negative one is no bound', () => {
  const rate = (kubeApiQps: number, kubeApiBurst: number) => configOf({ kubeApiQps, kubeApiBurst }).kubeApi;
  assert.deepEqual(rate(0, 0), { qps: 5, burst: 10 });
  assert.deepEqual(rate(-1, 3), { qps: 0, burst: 3 });
});
