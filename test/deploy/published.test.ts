// All that is deployed, against the schemas and types that others publish.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { at, type Manifest, manifestsOf, ROOT, render, VALUES } from './chart.ts';
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

for (const [name, manifests] of rendered)
  test(`the objects of ${name} are as the schemas of Kubernetes and the Prometheus operator say`, async () => {
    for (const manifest of manifests) await validate(manifest);
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

test('they have no field that does not exist, and neither has the dashboard', async () => {
  const objects = rendered.flatMap(([, manifests]) => manifests);
  const modules = [...new Map(objects.map((object) => [moduleOf(object), object.kind]))];
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
    ],
  );
  assert.equal(errors, '');
});

test('a wrong field would be found, and a wrong value', async () => {
  const [daemonSet] = render('--set', 'apiServer=https://10.0.0.10:6443').filter(
    ({ kind }) => kind === 'DaemonSet',
  );
  assert.ok(daemonSet);
  const spec = at(daemonSet, 'spec') as object;
  const imports = [
    "import type { IDaemonSet } from 'kubernetes-models/apps/v1/DaemonSet';",
    ...DASHBOARD_IMPORTS,
  ];
  const errors = await typeErrors(imports, [
    { name: 'one', type: 'IDaemonSet', value: { ...daemonSet, spec: { ...spec, updateStrategie: {} } } },
    { name: 'two', type: 'Dashboard', value: { ...(dashboard as object), graphTooltip: 'shared' } },
    {
      name: 'three',
      type: PANEL_TYPES.stat ?? '',
      value: { type: 'stat', options: { colourMode: 'value' } },
    },
  ]);
  assert.match(errors, /'"updateStrategie"' does not exist/);
  assert.match(errors, /'"colourMode"' does not exist/);
  assert.match(errors, /'string' is not assignable to type 'DashboardCursorSync/);
  assert.equal(errors.match(/error TS/g)?.length, 3, errors);
  await assert.rejects(
    validate({ ...daemonSet, spec: { ...spec, minReadySeconds: 'soon' } }),
    /minReadySeconds/,
  );
});

/** Targets are the data source's, of whose types nothing is published here. */
function withoutTargets(panel: object): object {
  return { ...panel, targets: undefined };
}
