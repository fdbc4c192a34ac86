// Flags and files as the behaviour spec's scenarios have them (S004 to S075): what is in force, and what is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { configFileText, parseConfigFile } from './config-file.ts';
import { type Configuration, configurationDocument, modeSettings } from './configuration.ts';
import { configurationOf, withFlags } from './from-flags.ts';
import { parseFlags } from './parse-flags.ts';
import { checkConfiguration, nodeNameOf } from './proxy-config.ts';
import { loggingProblem, validate } from './validate.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

function flags(...args: readonly string[]): Configuration {
  const request = parseFlags(args);
  assert.ok(request.kind === 'run');
  return configurationOf(request.values);
}

const file = async (text: string): Promise<Configuration> =>
  (await parseConfigFile(HEAD + text)).configuration;

/** A file beside flags. */
async function both(text: string, ...args: readonly string[]): Promise<Configuration> {
  const request = parseFlags(args);
  assert.ok(request.kind === 'run');
  return withFlags(await file(text), request.values, request.given);
}

/** The paths of what is wrong, with the last words of each message. */
const problemsOf = (configuration: Configuration): readonly string[] =>
  validate(configuration).map((message) => message.replace(/^KubeProxyConfiguration\./, ''));

test('S001 S002 S003: the defaults, by flags and by a file', async () => {
  const ours = flags();
  assert.deepEqual(await file(''), { ...ours, ipvs: { ...ours.ipvs, minSyncPeriod: 0 } });
  assert.deepEqual(modeSettings(ours), { syncPeriod: 30_000, minSyncPeriod: 1000, masqueradeAll: false });
  assert.deepEqual(
    [ours.detectLocalMode, ours.iptables.masqueradeBit, ours.oomScoreAdj, ours.configSyncPeriod],
    ['ClusterCIDR', 14, -999, 900_000],
  );
  assert.deepEqual([ours.healthzBindAddress, ours.metricsBindAddress], ['0.0.0.0:10256', '127.0.0.1:10249']);
  assert.deepEqual(ours.conntrack, {
    maxPerCore: 32_768,
    min: 131_072,
    tcpEstablishedTimeout: 86_400_000,
    tcpCloseWaitTimeout: 3_600_000,
    tcpBeLiberal: false,
    udpTimeout: 0,
    udpStreamTimeout: 0,
  });
  assert.deepEqual([ours.clientConnection.qps, ours.clientConnection.burst], [5, 10]);
  const ipvs = modeSettings(await file('mode: ipvs'));
  assert.deepEqual([ipvs.syncPeriod, ipvs.minSyncPeriod], [30_000, 0]);
});

test('S004 S008 S009 S010: which flag sets the sync periods depends on the mode', () => {
  assert.equal(modeSettings(flags('--proxy-mode=ipvs')).minSyncPeriod, 1000);
  const two = ['--iptables-sync-period=45s', '--ipvs-sync-period=20s'];
  assert.equal(modeSettings(flags(...two, '--proxy-mode=ipvs')).syncPeriod, 20_000);
  assert.equal(modeSettings(flags(...two, '--proxy-mode=iptables')).syncPeriod, 45_000);
  const min = flags('--iptables-min-sync-period=4s', '--proxy-mode=nftables');
  assert.equal(modeSettings(min).minSyncPeriod, 4000);
});

test("S005 S006 S007: a file's mode says which section counts", async () => {
  const periods = 'nftables: {syncPeriod: 40s}\niptables: {syncPeriod: 50s}\n';
  assert.equal(modeSettings(await file(`mode: nftables\n${periods}`)).syncPeriod, 40_000);
  const all = 'iptables: {masqueradeAll: true}\n';
  assert.equal(modeSettings(await file(`mode: ipvs\n${all}`)).masqueradeAll, true);
  assert.equal(modeSettings(await file(`mode: nftables\n${all}`)).masqueradeAll, false);
  // Without a mode the file was written for iptables: that section counts, in nftables mode.
  const none = await file('nftables: {syncPeriod: 40s}\niptables: {masqueradeAll: true, syncPeriod: 50s}\n');
  assert.deepEqual(
    [none.mode, modeSettings(none)],
    ['nftables', { masqueradeAll: true, syncPeriod: 50_000, minSyncPeriod: 1000 }],
  );
});

test('S011: a dual-stack cluster CIDR keeps its order', () => {
  assert.equal(flags('--cluster-cidr=10.50.0.0/16,fd00:50::/48').clusterCIDR, '10.50.0.0/16,fd00:50::/48');
});

test('S012 S013 S015 S016: beside a file only the name and the log are for flags to say', async () => {
  const text =
    'mode: iptables\nlogging: {verbosity: 3, vmodule: [{filePattern: a.go, verbosity: 2}]}\nclusterCIDR: 10.0.0.0/8\n';
  const merged = await both(
    text,
    '--proxy-mode=nftables',
    '--cluster-cidr=11.0.0.0/8',
    '--hostname-override= Node-A ',
    '-v=6',
    '--vmodule',
    'b.go=9',
  );
  assert.equal(merged.mode, 'iptables');
  assert.equal(merged.clusterCIDR, '10.0.0.0/8');
  assert.equal(nodeNameOf(merged.hostnameOverride, 'x'), 'node-a');
  assert.equal(merged.logging.verbosity, 6);
  assert.deepEqual(merged.logging.vmodule, [
    { pattern: 'b.go', verbosity: 9 },
    { pattern: 'a.go', verbosity: 2 },
  ]);
  const alone = await both(text);
  assert.equal(alone.logging.verbosity, 3);
});

test('S014: a hostname override of blanks is refused', () => {
  assert.throws(() => nodeNameOf(flags('--hostname-override=  ').hostnameOverride, 'x'), {
    message: 'failed complete: empty hostname-override is invalid',
  });
});

test('S017 S018: unknown and duplicate fields are passed over, and named', async () => {
  const unknown = await parseConfigFile(`${HEAD}color: red\nconntrack: {colour: blue, min: 5}\n`);
  assert.equal(unknown.lenient, 'unknown field "color", unknown field "conntrack.colour"');
  assert.equal(unknown.configuration.conntrack.min, 5);
  const twice = await parseConfigFile(`${HEAD}mode: ipvs\nmode: nftables\n`);
  assert.equal(twice.lenient, 'duplicate key at line 4');
  assert.equal(twice.configuration.mode, 'nftables');
  assert.equal((await parseConfigFile(HEAD)).lenient, undefined);
});

test('S019 S020: what is no such file is refused, and says why', async () => {
  const table: readonly (readonly [string, RegExp])[] = [
    [
      'kind: SomethingElse\napiVersion: kubeproxy.config.k8s.io/v1alpha1',
      /no kind "SomethingElse" is registered for version/,
    ],
    [
      'kind: KubeProxyConfiguration\napiVersion: v1',
      /no kind "KubeProxyConfiguration" is registered for version "v1"/,
    ],
    ['mode: nftables', /Object 'Kind' is missing/],
    ['kind: KubeProxyConfiguration', /Object 'apiVersion' is missing/],
    ['{{{', /^failed to decode: /],
    ['just words', /holds no object/],
    ['', /holds no object/],
    [
      `${HEAD}conntrack: {min: many}\noomScoreAdj: 1.5`,
      /oomScoreAdj: must be a whole number; conntrack.min: must be a whole number/,
    ],
    [`${HEAD}conntrack: 5`, /conntrack: must be a map of fields/],
    [`${HEAD}configSyncPeriod: soon`, /configSyncPeriod: must be a duration such as/],
    [`${HEAD}nodePortAddresses: primary`, /nodePortAddresses: must be a list of strings/],
    [`${HEAD}featureGates: {A: "yes"}`, /featureGates: A must be true or false/],
    [`${HEAD}iptables: {masqueradeAll: "no"}`, /iptables.masqueradeAll: must be true or false/],
  ];
  for (const [text, expected] of table)
    await assert.rejects(
      parseConfigFile(text),
      (error) =>
        error instanceof PointsmanError &&
        error.code === 'E_CONFIG' &&
        error.message.startsWith('failed to decode: ') &&
        expected.test(error.message),
      text,
    );
});

test('JSON is read as well', async () => {
  const text =
    '{"kind":"KubeProxyConfiguration","apiVersion":"kubeproxy.config.k8s.io/v1alpha1","oomScoreAdj":0}';
  assert.equal((await parseConfigFile(text)).configuration.oomScoreAdj, 0);
});

test('S021 S022 S023: addresses of the servers follow the bind address, get a port, and cannot be empty', async () => {
  const of = async (text: string): Promise<readonly string[]> => {
    const { healthzBindAddress, metricsBindAddress } = await file(text);
    return [healthzBindAddress, metricsBindAddress];
  };
  assert.deepEqual(await of('bindAddress: "::"'), ['[::]:10256', '[::1]:10249']);
  assert.deepEqual(await of('healthzBindAddress: 192.0.2.11'), ['192.0.2.11:10256', '127.0.0.1:10249']);
  assert.deepEqual(await of('healthzBindAddress: ""'), ['0.0.0.0:10256', '127.0.0.1:10249']);
  assert.deepEqual(await of('metricsBindAddress: "2001:db8::1"'), ['0.0.0.0:10256', '[2001:db8::1]:10249']);
});

test('S024 S025 S026 S027 S028 S029: the deprecated port flags, with their quirks', () => {
  const health = (...args: readonly string[]): string => flags(...args).healthzBindAddress;
  assert.equal(health('--healthz-bind-address=2001:db8::5', '--healthz-port=1234'), '[2001:db8::5]:1234');
  assert.equal(health('--healthz-bind-address=192.0.2.11:999', '--healthz-port=1234'), '192.0.2.11:999');
  assert.equal(health('--healthz-port=1234'), '0.0.0.0:10256');
  assert.equal(health('--healthz-port=0'), '');
  assert.deepEqual(problemsOf(flags('--metrics-port=0')), [
    'MetricsBindAddress: Invalid value: "": must be IP:port',
  ]);
  assert.equal(flags('--metrics-bind-address=').metricsBindAddress, '127.0.0.1:10249');
});

test('S030: the file that is written says every default, and reads back as the same', async () => {
  const text = await configFileText(flags());
  const back = await parseConfigFile(text);
  assert.equal(back.lenient, undefined);
  assert.deepEqual(back.configuration, flags());
  const recorded = readFileSync(
    new URL('../../test/fixtures/config/default-config.yaml', import.meta.url),
    'utf8',
  );
  const { configuration } = await parseConfigFile(recorded);
  // What kube-proxy writes reads as the same but for the mode, and what depends on it.
  assert.deepEqual(
    { ...configuration, mode: 'nftables', nodePortAddresses: ['primary'], ipvs: flags().ipvs },
    flags(),
  );
  const fieldsOf = (document: object, path = ''): readonly string[] =>
    Object.entries(document).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
        ? fieldsOf(value, `${path}${name}.`)
        : [path + name],
    );
  const { parse } = await import('yaml');
  const ours = new Set(fieldsOf(configurationDocument(flags())));
  assert.deepEqual(
    fieldsOf(parse(recorded)).filter((field) => !ours.has(field)),
    [],
  );
});

test('S034 S093: node ports are on the primary addresses, unless told', async () => {
  assert.deepEqual(flags().nodePortAddresses, ['primary']);
  assert.deepEqual((await file('mode: nftables')).nodePortAddresses, ['primary']);
  assert.deepEqual((await file('mode: ipvs')).nodePortAddresses, []);
  assert.deepEqual(flags('--nodeport-addresses=10.0.0.0/8,fd00::/8').nodePortAddresses, [
    '10.0.0.0/8',
    'fd00::/8',
  ]);
});

test('S035 S036: feature gates that are locked, or unknown, are refused', () => {
  const of = (gates: string): readonly string[] => problemsOf(flags(`--feature-gates=${gates}`));
  assert.match(
    of('PreferSameTrafficDistribution=false').join(),
    /cannot set feature gate PreferSameTrafficDistribution to false, feature is locked to true/,
  );
  assert.match(of('NoSuchGate=true').join(), /unrecognized feature gate: NoSuchGate$/);
  assert.match(of('ComponentStatus=true').join(), /did you mean ComponentStatusz\?/);
  assert.deepEqual(of('NFTablesProxyMode=true,AllowServiceExternalIPs=false,AllAlpha=false'), []);
});

test('S040: conntrack settings of zero stay zero', async () => {
  const text = 'conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}';
  const { conntrack } = await file(text);
  assert.deepEqual(
    [conntrack.maxPerCore, conntrack.min, conntrack.tcpEstablishedTimeout, conntrack.tcpCloseWaitTimeout],
    [0, 0, 0, 0],
  );
  assert.equal(flags('--conntrack-max-per-core=0', '--conntrack-min=0').conntrack.maxPerCore, 0);
});

test('S041 to S075: what is wrong is named by its field, its value and what would be right', async () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    [
      'bindAddress: 192.0.2.11:80',
      ['BindAddress: Invalid value: "192.0.2.11:80": not a valid textual representation of an IP address'],
    ],
    [
      'healthzBindAddress: 192.0.2.300:80',
      ['HealthzBindAddress: Invalid value: "192.0.2.300:80": must be a valid IP'],
    ],
    [
      'healthzBindAddress: 192.0.2.11:http',
      ['HealthzBindAddress: Invalid value: "192.0.2.11:http": must be a valid port'],
    ],
    [
      'metricsBindAddress: 192.0.2.11:0',
      ['MetricsBindAddress: Invalid value: "192.0.2.11:0": must be a valid port'],
    ],
    [
      'metricsBindAddress: 192.0.2.11:70000',
      ['MetricsBindAddress: Invalid value: "192.0.2.11:70000": must be a valid port'],
    ],
    ['configSyncPeriod: -1s', ['ConfigSyncPeriod: Invalid value: "-1s": must be greater than 0']],
    [
      'mode: nftables\nnftables: {syncPeriod: -3s, minSyncPeriod: 1s}',
      [
        'SyncPeriod: Invalid value: "-3s": must be greater than 0',
        'SyncPeriod: Invalid value: "1s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
      ],
    ],
    [
      'iptables: {minSyncPeriod: -1s}',
      ['MinSyncPeriod: Invalid value: "-1s": must be greater than or equal to 0'],
    ],
    [
      'iptables: {syncPeriod: 2s, minSyncPeriod: 7s}',
      [
        'SyncPeriod: Invalid value: "7s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
      ],
    ],
    ['iptables: {syncPeriod: 5s, minSyncPeriod: 5s}', []],
    [
      'mode: kernelspace',
      [
        'Mode.ProxyMode: Invalid value: "kernelspace": must be iptables, ipvs, nftables or blank (blank means nftables)',
      ],
    ],
    ['mode: ""', []],
    ['iptables: {masqueradeBit: 31}', []],
    ['iptables: {masqueradeBit: 0}', []],
    [
      'iptables: {masqueradeBit: 32}',
      ['KubeProxyIPTablesConfiguration.MasqueradeBit: Invalid value: 32: must be within the range [0, 31]'],
    ],
    [
      'iptables: {masqueradeBit: -1}',
      ['KubeProxyIPTablesConfiguration.MasqueradeBit: Invalid value: -1: must be within the range [0, 31]'],
    ],
    ['mode: iptables\nnftables: {masqueradeBit: 40}', []],
    [
      'mode: nftables\nnftables: {masqueradeBit: 40}',
      ['KubeProxyNFTablesConfiguration.MasqueradeBit: Invalid value: 40: must be within the range [0, 31]'],
    ],
    [
      'mode: ipvs\nipvs: {tcpTimeout: -1s}',
      ['KubeProxyIPVSConfiguration.TCPTimeout: Invalid value: "-1s": must be greater than or equal to 0'],
    ],
    ['mode: iptables\nipvs: {tcpTimeout: -1s}', []],
    [
      'mode: ipvs\nipvs: {excludeCIDRs: [10.0.0.0/8, x]}',
      ['KubeProxyIPVSConfiguration.ExcludeCidrs[1]: Invalid value: "x": must be a valid CIDR'],
    ],
    ['oomScoreAdj: -1000', []],
    ['oomScoreAdj: 1000', []],
    [
      'oomScoreAdj: 1001',
      [
        'KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: 1001: must be within the range [-1000, 1000]',
      ],
    ],
    [
      'conntrack: {maxPerCore: -1, min: -1}',
      [
        'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.MaxPerCore: Invalid value: -1: must be greater than or equal to 0',
        'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.Min: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'conntrack: {udpTimeout: -5s}',
      [
        'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.UDPTimeout: Invalid value: "-5s": must be greater than or equal to 0',
      ],
    ],
    [
      'clientConnection: {burst: -2}',
      ['ClientConnection.Burst: Invalid value: -2: must be greater than or equal to 0'],
    ],
    ['clientConnection: {burst: 0}', []],
    ['nodePortAddresses: [primary]', []],
    [
      'nodePortAddresses: [primary, 192.0.2.0/24]',
      [`NodePortAddresses[0]: Invalid value: "primary": can't use both 'primary' and CIDRs`],
    ],
    [
      'nodePortAddresses: [192.0.2.0/24, primary]',
      [`NodePortAddresses[1]: Invalid value: "primary": can't use both 'primary' and CIDRs`],
    ],
    [
      'nodePortAddresses: [192.0.2.11]',
      ['NodePortAddresses[0]: Invalid value: "192.0.2.11": must be a valid CIDR'],
    ],
    ['nodePortAddresses: [192.000.002.0/024]', []],
    [
      'detectLocalMode: Guess',
      [
        'DetectLocalMode: Unsupported value: "Guess": supported values: "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix", ""',
      ],
    ],
    [
      'detectLocalMode: BridgeInterface',
      ['DetectLocalConfiguration.InterfaceName: Invalid value: "": must not be empty'],
    ],
    [
      'detectLocalMode: InterfaceNamePrefix',
      ['DetectLocalConfiguration.InterfacePrefix: Invalid value: "": must not be empty'],
    ],
    ['detectLocalMode: ClusterCIDR', []],
    [
      'clusterCIDR: 10.0.0.0/8,11.0.0.0/8',
      [
        'DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48])',
      ],
    ],
    [
      'clusterCIDR: 10.0.0.0/8,fd00::/48,11.0.0.0/8',
      [
        'DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["10.0.0.0/8","fd00::/48","11.0.0.0/8"]: must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48])',
      ],
    ],
    [
      'clusterCIDR: 10.50.0.0/16,oops',
      [
        'DetectLocalConfiguration.ClusterCIDRs[1]: Invalid value: "oops": must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
      ],
    ],
    ['detectLocalMode: NodeCIDR\nclusterCIDR: oops', []],
    ['showHiddenMetricsForVersion: "1.35"', []],
    [
      'showHiddenMetricsForVersion: "1.34"',
      ['ShowHiddenMetricsForVersion: Invalid value: "1.34": must be empty or the previous minor 1.35'],
    ],
  ];
  for (const [text, expected] of table) assert.deepEqual(problemsOf(await file(text)), expected, text);
});

test('S051: a mode of times past is refused', () => {
  assert.match(
    problemsOf(flags('--proxy-mode=userspace')).join(),
    /^Mode.ProxyMode: Invalid value: "userspace"/,
  );
});

test('S074: logging is checked first, and alpha options need their gate', async () => {
  const of = async (text: string): Promise<string | undefined> => loggingProblem(await file(text));
  assert.equal(
    await of('logging: {format: xml}'),
    'logging.format: Invalid value: "xml": Unsupported log format',
  );
  assert.equal(await of('logging: {format: json}'), undefined);
  assert.match(
    (await of('logging: {format: json, vmodule: [{filePattern: a, verbosity: 1}]}')) ?? '',
    /^logging.vmodule: Forbidden/,
  );
  assert.match(
    (await of('logging: {options: {text: {splitStream: true}}}')) ?? '',
    /LoggingAlphaOptions is disabled/,
  );
  const gate = 'featureGates: {LoggingAlphaOptions: true}\n';
  assert.equal(await of(`${gate}logging: {options: {text: {splitStream: true}}}`), undefined);
  const wrong = await file('logging: {format: xml}\noomScoreAdj: 5000');
  assert.throws(() => checkConfiguration(wrong), /^.*initialize logging: logging.format/);
});
