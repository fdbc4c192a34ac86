// What the chart renders to, and what it refuses.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfigFile } from '../../src/config/config-file.ts';
import { configurationDocument, STANDARD } from '../../src/config/configuration.ts';
import { parseFlags } from '../../src/config/parse-flags.ts';
import {
  at,
  CHART,
  configFiles,
  containerOf,
  type Json,
  only,
  podOf,
  ROOT,
  render,
  runTool,
  template,
} from './chart.ts';

const SMALLEST = ['--set', 'apiServer=https://10.0.0.10:6443'];

test('the static manifests are what the chart renders to now', () => {
  assert.equal(
    readFileSync(`${ROOT}deploy/manifests/pointsman.yaml`, 'utf8'),
    runTool('manifests').out,
    'run: sh tools/manifests.sh > deploy/manifests/pointsman.yaml',
  );
});

test('the configuration holds what the values say, and the mode', async () => {
  const { config } = configFiles(render(...SMALLEST, '--set', 'config.clusterCIDR=10.1.0.0/16'));
  const { configuration } = await parseConfigFile(config);
  assert.equal(configuration.mode, 'nftables');
  assert.equal(configuration.clusterCIDR, '10.1.0.0/16');
  assert.equal(configuration.metricsBindAddress, '127.0.0.1:10249');
});

test('a monitor opens the metrics to Prometheus, unless the configuration says where they are', async () => {
  for (const monitor of ['podMonitor', 'serviceMonitor']) {
    const scraped = [...SMALLEST, '--set', `${monitor}.enabled=true`];
    const open = await parseConfigFile(configFiles(render(...scraped)).config);
    assert.equal(open.configuration.metricsBindAddress, '0.0.0.0:10249');
    const said = render(...scraped, '--set', 'config.metricsBindAddress=10.0.0.7:9');
    const { configuration } = await parseConfigFile(configFiles(said).config);
    assert.equal(configuration.metricsBindAddress, '10.0.0.7:9');
  }
});

test('the schema of config has the fields of KubeProxyConfiguration, and no others', () => {
  const schema: unknown = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
  assert.deepEqual(
    fieldsOfSchema(at(schema, 'properties', 'config')),
    fieldsOfDocument(configurationDocument(STANDARD)),
  );
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no address of the API server', [], /apiServer is not set/],
  ['a mode that is not there', [...SMALLEST, '--set', 'mode=ipvs'], /mode ipvs is not there yet/],
  ['a mode that does not exist', [...SMALLEST, '--set', 'mode=userspace'], /mode/],
  [
    'another mode in config',
    [...SMALLEST, '--set', 'config.mode=iptables'],
    /config\.mode is iptables and mode is nftables/,
  ],
  ['a field that does not exist', [...SMALLEST, '--set', 'config.conntrack.maxPerCpu=1'], /maxPerCpu/],
  ['a value that does not exist', [...SMALLEST, '--set', 'imagee.tag=1'], /imagee/],
  ['a field of another type', [...SMALLEST, '--set', 'config.conntrack.min=many'], /min/],
  [
    'a second monitor',
    [...SMALLEST, '--set', 'podMonitor.enabled=true', '--set', 'serviceMonitor.enabled=true'],
    /scraped twice/,
  ],
];
for (const [what, args, words] of refused)
  test(`${what} is refused while rendering`, () => {
    const { status, err } = template(...args);
    assert.equal(status, 1);
    assert.match(err, words);
  });

test('the container starts the proxy with the file of the ConfigMap and the name of the node', () => {
  const manifests = render(...SMALLEST, '--set', 'extraArgs[0]=--v=4');
  for (const name of ['init', 'pointsman'] as const) {
    const container = containerOf(manifests, name);
    const request = parseFlags(container.args);
    assert.ok(request.kind === 'run');
    const { values } = request;
    assert.equal(values.config, `${at(container, 'volumeMounts', 0, 'mountPath')}/config.conf`);
    assert.equal(values.hostnameOverride, `$(${at(container, 'env', 0, 'name')})`);
    assert.equal(at(container, 'env', 0, 'valueFrom', 'fieldRef', 'fieldPath'), 'spec.nodeName');
    assert.equal(values.initOnly, name === 'init');
    assert.equal(values.verbosity, name === 'init' ? 0 : 4);
  }
});

test('both containers count the same CPUs', () => {
  const manifests = render(...SMALLEST, '--set', 'resources.limits.cpu=2');
  assert.equal(at(containerOf(manifests, 'pointsman'), 'resources', 'limits', 'cpu'), 2);
  assert.deepEqual(containerOf(manifests, 'init').resources, containerOf(manifests, 'pointsman').resources);
});

test('probes ask where health is served', () => {
  const asked = (...args: readonly string[]): unknown[] => {
    const container = containerOf(render(...SMALLEST, ...args), 'pointsman');
    return [at(container, 'livenessProbe', 'httpGet'), at(container, 'readinessProbe', 'httpGet')];
  };
  const at10256 = { port: 10256 };
  assert.deepEqual(asked(), [
    { path: '/livez', ...at10256 },
    { path: '/healthz', ...at10256 },
  ]);
  const cases: readonly (readonly [string, Json])[] = [
    ['0.0.0.0:1234', { port: 1234 }],
    ['::', at10256],
    ['127.0.0.1', { ...at10256, host: '127.0.0.1' }],
    ['[fd00::1]:1234', { port: 1234, host: 'fd00::1' }],
  ];
  for (const [address, where] of cases)
    assert.deepEqual(asked('--set-json', `config.healthzBindAddress=${JSON.stringify(address)}`), [
      { path: '/livez', ...where },
      { path: '/healthz', ...where },
    ]);
});

test('nothing but NET_ADMIN is given to the proxy in nftables mode, and nothing of the node is mounted', () => {
  const manifests = render(...SMALLEST);
  assert.deepEqual(containerOf(manifests, 'pointsman').securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: 0,
    runAsGroup: 0,
    seccompProfile: { type: 'RuntimeDefault' },
    capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
  });
  assert.deepEqual(
    (podOf(manifests).volumes as readonly Json[]).map(({ name }) => name),
    ['config', 'run'],
  );
  assert.doesNotMatch(JSON.stringify(podOf(manifests)), /hostPath/);
});

test('guarded metrics: Pointsman is told, may ask, and Prometheus gets a role', () => {
  const guarded = render(...SMALLEST, '--set', 'metrics.tlsSecret=metrics,metrics.authorization=true');
  const container = containerOf(guarded, 'pointsman');
  const request = parseFlags(container.args);
  assert.ok(request.kind === 'run');
  const { metricsAuthorization, metricsTlsCertFile, metricsTlsKeyFile } = request.values;
  assert.ok(metricsAuthorization);
  const mount = (container.volumeMounts as readonly Json[]).find(
    ({ name }) => name === 'metrics-tls',
  )?.mountPath;
  assert.deepEqual([metricsTlsCertFile, metricsTlsKeyFile], [`${mount}/tls.crt`, `${mount}/tls.key`]);
  assert.match(
    JSON.stringify(only(guarded, 'ClusterRole', 'pointsman')),
    /tokenreviews.*subjectaccessreviews/,
  );
  assert.deepEqual(only(guarded, 'ClusterRole', 'pointsman-metrics').rules, [
    { nonResourceURLs: ['/metrics'], verbs: ['get'] },
  ]);
});

test('a monitor asks by HTTPS when there is a certificate, with the further fields given', () => {
  const monitors: readonly (readonly [string, string, string])[] = [
    ['podMonitor', 'PodMonitor', 'podMetricsEndpoints'],
    ['serviceMonitor', 'ServiceMonitor', 'endpoints'],
  ];
  for (const [value, kind, field] of monitors) {
    const sets = `${value}.enabled=true,${value}.endpoint.scrapeTimeout=5s,metrics.tlsSecret=metrics`;
    const monitor = only(render(...SMALLEST, '--set', sets), kind);
    assert.deepEqual(at(monitor, 'spec', field), [
      {
        port: 'metrics',
        scheme: 'https',
        interval: '30s',
        scrapeTimeout: '5s',
        relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'instance' }],
      },
    ]);
    assert.equal(at(monitor, 'spec', 'jobLabel'), 'app.kubernetes.io/name');
  }
});

test('without the init container nothing is privileged', () => {
  const pod = podOf(render(...SMALLEST, '--set', 'init.enabled=false'));
  assert.equal(pod.initContainers, undefined);
  assert.doesNotMatch(JSON.stringify(pod), /privileged/);
});

test('mode iptables has raw sockets, the lock of iptables and the image with its programs', () => {
  const manifests = render(...SMALLEST, '--set', 'mode=iptables');
  const container = containerOf(manifests, 'pointsman');
  assert.deepEqual(at(container, 'securityContext', 'capabilities', 'add'), ['NET_ADMIN', 'NET_RAW']);
  assert.match(String(container.image), /-iptables$/);
  const mounts = container.volumeMounts as readonly Json[];
  assert.ok(
    mounts.some(({ name, mountPath }) => name === 'xtables-lock' && mountPath === '/run/xtables.lock'),
  );
  assert.deepEqual(
    (podOf(manifests).volumes as readonly Json[]).find(({ name }) => name === 'xtables-lock'),
    {
      name: 'xtables-lock',
      hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' },
    },
  );
  const tagged = render(...SMALLEST, '--set', 'mode=iptables,image.tag=own');
  assert.match(String(containerOf(tagged, 'pointsman').image), /:own$/);
});

test('every value is in the README, and nothing else', () => {
  const [, readme = ''] = readFileSync(`${CHART}/README.md`, 'utf8').split(/^## .*$/m);
  const schema: unknown = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
  const known = Object.keys(at(schema, 'properties') as Json).filter((name) => name !== 'global');
  const told = [...readme.matchAll(/^\| `([a-zA-Z]+)[^|]*\|/gm)].map((match) => match[1]);
  assert.deepEqual([...new Set(told)].sort(), known.sort());
});

/** Field names with their sections: `conntrack.min`. */
function fieldsOfSchema(schema: unknown, path = ''): string[] {
  const properties = at(schema, 'properties') as Json | undefined;
  if (properties === undefined) return [path];
  assert.equal(at(schema, 'additionalProperties'), false, path);
  return Object.entries(properties)
    .flatMap(([name, inner]) => fieldsOfSchema(inner, below(path, name)))
    .sort();
}

function fieldsOfDocument(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path === 'featureGates')
    return [path];
  return Object.entries(value)
    .flatMap(([name, inner]) => fieldsOfDocument(inner, below(path, name)))
    .sort();
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
