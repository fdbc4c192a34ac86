// The alerts and the dashboard: right for Prometheus and Grafana, and about metrics that there are.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { at, only, ROOT, render, runTool, yaml } from './chart.ts';
import { exposedSeries, type Series } from './exposition.ts';
import { readExpression } from './promql.ts';

const ALERTS = `${ROOT}deploy/alerts/pointsman.yaml`;
const ALERT_TESTS = `${ROOT}deploy/alerts/pointsman.test.yaml`;

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: unknown;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly expr: string;
    readonly refId: string;
    readonly datasource: unknown;
  }[];
}

const rules = yaml(readFileSync(ALERTS, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard: unknown = JSON.parse(readFileSync(`${ROOT}deploy/dashboards/pointsman.json`, 'utf8'));
const panels = at(dashboard, 'panels') as readonly Panel[];
const charts = panels.filter(({ type }) => type !== 'row');
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own
const SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** As Grafana would fill in its own variables. */
const filled = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '3h').replaceAll('$job', 'pointsman');
const panelExpressions = charts.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [`panel ${title}`, filled(expr)] as const),
);
const expressions = [
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panelExpressions,
];

test('promtool takes the alerts', () => {
  const { status, out, err } = runTool('promtool', 'check', 'rules', '--lint-fatal', ALERTS);
  assert.equal(status, 0, out + err);
  assert.match(out, new RegExp(`SUCCESS: ${alerts.length} rules found`));
});

test('each alert fires when it should, and none in peace', () => {
  const { status, out, err } = runTool('promtool', 'test', 'rules', ALERT_TESTS);
  assert.equal(status, 0, out + err);
});

test('each alert is among the tests that expect it to fire', () => {
  const expected = new Set(
    [...readFileSync(ALERT_TESTS, 'utf8').matchAll(/alertname="(\w+)"/g)].map((match) => match[1]),
  );
  assert.deepEqual([...expected].sort(), alerts.map(({ alert }) => alert).sort());
});

test('each alert says how bad it is, what it means and what to do', () => {
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels.severity, /^(critical|warning|info)$/, alert);
    for (const name of ['summary', 'description', 'runbook'])
      assert.ok((annotations[name] ?? '').length > 20, `${alert}: ${name}`);
  }
});

test('the events that the runbooks name are those that Pointsman records', () => {
  const notes = readFileSync(`${ROOT}src/proxy/notes.ts`, 'utf8');
  const named = [...readFileSync(ALERTS, 'utf8').matchAll(/reason=(\w+)/g)].map((match) => match[1] ?? '');
  assert.ok(named.length > 0);
  for (const reason of named) assert.ok(notes.includes(`'${reason}'`), reason);
});

test('promtool takes every expression of the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-dashboard-'));
  try {
    const file = join(folder, 'rules.yaml');
    const recorded = panelExpressions.map(([, expr], index) => ({ record: `panel:${index}`, expr }));
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const { status, out, err } = runTool('promtool', 'check', 'rules', file);
    assert.equal(status, 0, out + err);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('alerts and dashboard ask for series that Pointsman exposes', async () => {
  const exposed = [...(await exposedSeries()), { metric: 'up', labels: new Map() }];
  assert.deepEqual(
    expressions.flatMap(([where, expr]) => missing(expr, exposed).map((what) => `${where}: ${what}`)),
    [],
  );
});

test('what is not exposed would be found', async () => {
  const exposed = await exposedSeries();
  const missed = (expr: string): readonly string[] => missing(expr, exposed);
  assert.deepEqual(missed('sum by (le) (rate(pointsman_commit_kernel_seconds_bucket{job="a"}[5m]))'), []);
  assert.deepEqual(missed('max(pointsman_entry) > bool 1'), ['pointsman_entry']);
  assert.deepEqual(missed('count by (resourse) (pointsman_cache_objects)'), ['label resourse']);
  assert.deepEqual(missed('pointsman_quarantined{kind="entries"}'), [
    'pointsman_quarantined{kind="entries"}',
  ]);
  assert.deepEqual(missed('rest_client_requests_total{code=~"4..|5.."}'), []);
  assert.deepEqual(missed('rest_client_requests_total{verb=~".+"}'), [
    'rest_client_requests_total{verb=~".+"}',
  ]);
  assert.deepEqual(missed('a unless on (job, instance) pointsman_entries'), ['a']);
});

test('the dashboard shows all that Pointsman exposes, but for details of the process', async () => {
  const used = new Set(
    panelExpressions.flatMap(([, expr]) =>
      readExpression(expr).selectors.map(({ metric }) => baseOf(metric)),
    ),
  );
  const own = new Set((await exposedSeries()).map(({ metric }) => baseOf(metric)));
  assert.deepEqual(
    [...own].filter((metric) => /^(pointsman|kubeproxy|rest_client)_/.test(metric) && !used.has(metric)),
    [],
  );
});

test('the panels of the dashboard have names, sources and a place of their own', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x >= 0 && x + w <= 24, title);
    for (let column = x; column < x + w; column += 1)
      for (let line = y; line < y + h; line += 1) {
        assert.ok(!taken.has(`${column},${line}`), `${title} lies over another panel`);
        taken.add(`${column},${line}`);
      }
  }
  for (const { title, description = '', datasource, targets = [] } of charts) {
    assert.ok(title !== '' && description !== '', title);
    assert.deepEqual(datasource, SOURCE);
    assert.ok(targets.length > 0, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (const target of targets) assert.deepEqual(target.datasource, SOURCE);
  }
});

test('every variable that the dashboard uses is one it has', () => {
  const known = (at(dashboard, 'templating', 'list') as readonly { readonly name: string }[]).map(
    ({ name }) => name,
  );
  const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(?!__)([a-z]+)\}?/g)].map(
    (match) => match[1] ?? '',
  );
  assert.deepEqual([...new Set(used)].sort(), [...known].sort());
});

test('the chart deploys these alerts and this dashboard', () => {
  const manifests = render(
    '--set',
    'apiServer=https://a:1,prometheusRule.enabled=true,dashboards.enabled=true',
  );
  assert.deepEqual(only(manifests, 'PrometheusRule').spec, rules);
  const map = only(manifests, 'ConfigMap', 'pointsman-dashboards');
  assert.deepEqual(JSON.parse(String(at(map, 'data', 'pointsman.json'))), dashboard);
});

/** Labels that Prometheus adds. */
const SCRAPE_LABELS = new Set(['job', 'instance']);

/** What an expression names and no series has. */
function missing(expr: string, exposed: readonly Series[]): readonly string[] {
  const { selectors, labels } = readExpression(expr);
  const lacking = selectors.flatMap(({ metric, matchers }) => {
    const series = exposed.filter((one) => one.metric === metric);
    if (series.length === 0) return [metric];
    return matchers
      .filter(({ label, operator, value }) => {
        if (SCRAPE_LABELS.has(label)) return false;
        const matches = (found: string): boolean =>
          operator === '=~' ? new RegExp(`^(?:${value})$`).test(found) : found === value;
        return !series.some((one) => matches(one.labels.get(label) ?? ''));
      })
      .map(({ label, operator, value }) => `${metric}{${label}${operator}${JSON.stringify(value)}}`);
  });
  const asked = exposed.filter(({ metric }) => selectors.some((selector) => selector.metric === metric));
  const unknown = labels.filter(
    (label) => !SCRAPE_LABELS.has(label) && !asked.some((series) => series.labels.has(label)),
  );
  return [...lacking, ...unknown.map((label) => `label ${label}`)];
}

/** The metric of a histogram's series. */
const baseOf = (metric: string): string => metric.replace(/_(bucket|sum|count)$/, '');
