// What each set of values renders to, and all else that is deployed, against what others publish about it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { parseConfigFile } from '../../src/config/config-file.ts';
import { checkConfiguration } from '../../src/config/proxy-config.ts';
import {
  at,
  CHART,
  configFiles,
  type Manifest,
  manifestsOf,
  only,
  ROOT,
  render,
  runTool,
  VALUES,
} from './chart.ts';
import { moduleOf, typeErrors, validate } from './published.ts';

const rendered: readonly (readonly [string, readonly Manifest[]])[] = [
  ...VALUES.map((file) => [basename(file, '-values.yaml'), render('--values', file)] as const),
  ...['pointsman', 'kube-proxy-cleanup'].map(
    (name) => [name, manifestsOf(readFileSync(`${ROOT}deploy/manifests/${name}.yaml`, 'utf8'))] as const,
  ),
];
const dashboard: unknown = JSON.parse(readFileSync(`${ROOT}deploy/dashboards/pointsman.json`, 'utf8'));

const PANELS = './node_modules/@grafana/schema/dist/types/raw/composable';
const DASHBOARD_IMPORTS = [
  "import type { Dashboard, Panel, RowPanel } from '@grafana/schema';",
  `import type * as TimeSeries from '${PANELS}/timeseries/panelcfg/x/types.gen.d.ts';`,
  `import type * as Stat from '${PANELS}/stat/panelcfg/x/types.gen.d.ts';`,
];
/** What each kind of panel may be set to. */
const PANEL_TYPES: Readonly<Record<string, string>> = {
  row: 'RowPanel',
  timeseries: "Omit<Panel, 'options'> & { options: Partial<TimeSeries.Options> }",
  stat: "Omit<Panel, 'options'> & { options: Partial<Stat.Options> }",
};
const panels = at(dashboard, 'panels') as readonly { readonly id: number; readonly type: string }[];

for (const file of VALUES)
  test(`helm lint finds nothing with ${basename(file)}`, () => {
    const { status, out, err } = runTool('helm', 'lint', CHART, '--strict', '--quiet', '--values', file);
    assert.equal(status, 0, out + err);
  });

for (const [name, manifests] of rendered)
  test(`the objects of ${name} are as the schemas of Kubernetes and the Prometheus operator say`, async () => {
    for (const manifest of manifests) await validate(manifest);
  });

for (const [name, manifests] of rendered.filter(([, list]) => list.some(isOwnConfigMap)))
  test(`the configuration of ${name} is one that Pointsman reads without a complaint`, async () => {
    const { configuration, lenient } = await parseConfigFile(configFiles(manifests).config);
    assert.equal(lenient, undefined);
    checkConfiguration(configuration);
  });

test('every kind that there is to deploy is among them', () => {
  const kinds = new Set(rendered.flatMap(([, manifests]) => manifests.map(({ kind }) => kind)));
  assert.deepEqual([...kinds].sort(), [
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'DaemonSet',
    'Pod',
    'PodMonitor',
    'PrometheusRule',
    'Service',
    'ServiceAccount',
    'ServiceMonitor',
  ]);
});

test('they have no field that does not exist, and neither has the dashboard; a wrong one would be found', async () => {
  const objects = rendered.flatMap(([, manifests]) => manifests);
  const modules = [...new Map(objects.map((object) => [moduleOf(object), object.kind]))];
  const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet');
  const wrongSpec = { ...(at(daemonSet, 'spec') as object), updateStrategie: {} };
  const errors = await typeErrors(
    [...modules.map(([module, kind]) => `import type { I${kind} } from '${module}';`), ...DASHBOARD_IMPORTS],
    [
      ...objects.map((value, index) => ({ name: `object${index}`, type: `I${value.kind}`, value })),
      { name: 'dashboard', type: 'Dashboard', value: dashboard },
      ...panels.map((value) => ({
        name: `panel${value.id}`,
        type: PANEL_TYPES[value.type] ?? 'never',
        value: withoutTargets(value),
      })),
      { name: 'wrongSpec', type: 'IDaemonSet', value: { ...daemonSet, spec: wrongSpec } },
      { name: 'wrongValue', type: 'Dashboard', value: { ...(dashboard as object), graphTooltip: 'shared' } },
      { name: 'wrongPanel', type: PANEL_TYPES.stat ?? '', value: { type: 'stat', options: { colour: '' } } },
    ],
  );
  assert.match(errors.get('wrongSpec') ?? '', /'"updateStrategie"' does not exist/);
  assert.match(errors.get('wrongValue') ?? '', /'string' is not assignable to type 'DashboardCursorSync/);
  assert.match(errors.get('wrongPanel') ?? '', /'"colour"' does not exist/);
  assert.deepEqual(
    [...errors].filter(([name]) => !name.startsWith('wrong')),
    [],
  );
});

test('a value that the schema does not allow would be found', async () => {
  const daemonSet = only(render('--values', VALUES[0] ?? ''), 'DaemonSet');
  const spec = { ...(daemonSet.spec as object), minReadySeconds: 'soon' };
  await assert.rejects(validate({ ...daemonSet, spec }), /minReadySeconds/);
});

/** Targets are the data source's, of whose types nothing is published here. */
function withoutTargets(panel: object): object {
  return { ...panel, targets: undefined };
}

function isOwnConfigMap({ kind, metadata }: Manifest): boolean {
  return kind === 'ConfigMap' && metadata.name === 'pointsman';
}
