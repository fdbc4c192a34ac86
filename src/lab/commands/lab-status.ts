// `pointsman lab status`: which labs there are, and how they are.

import { namedNamespace } from '../../kernel/netns.ts';
import { createKoffiSys } from '../../kernel/sys/koffi.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { humanDuration } from '../api/time.ts';
import { type Health, probeHealth } from '../nodes/health-probe.ts';
import type { LabState, NodeState } from '../state/lab-state.ts';
import { isRunning } from '../state/process-identity.ts';
import { labNames, readState } from '../state/state-folder.ts';
import type { LabChoice, LabIo } from './io.ts';
import { runKubectl } from './kubectl.ts';
import { chosenLab, nameFlag } from './lab-of.ts';

export interface LabStatusOptions {
  /** Only this lab; all of the machine unless said otherwise. */
  readonly name?: string;
  readonly stateRoot?: string;
  readonly output?: 'text' | 'json';
}

export interface NodeReport {
  readonly name: string;
  readonly zone: string;
  readonly addresses: readonly string[];
  /** Null when the API server does not say. */
  readonly pods: number | null;
  readonly pointsman: {
    readonly health: Health['kind'] | 'none';
    readonly pid: number | null;
    readonly because: string;
  };
}

/** One lab, as `-o json` prints it. */
export interface LabReport {
  readonly name: string;
  readonly phase: LabState['phase'] | 'crashed';
  readonly pid: number;
  readonly startedAt: string;
  readonly server: string;
  readonly kubeconfig: string;
  readonly log: string;
  /** Why the API server does not answer; empty when it does. */
  readonly apiTrouble: string;
  readonly nodes: readonly NodeReport[];
}

/** Resolves with 0 when all is well, 3 when something is not, 1 when there is no such lab. */
export async function labStatus(options: LabStatusOptions, io: LabIo): Promise<number> {
  const { name, stateRoot } = options;
  const names = name === undefined ? labNames(stateRoot) : [name];
  const choice = stateRoot === undefined ? {} : { stateRoot };
  const found = await Promise.all(names.map((each) => reportOf({ ...choice, name: each })));
  const labs = found.filter((lab) => lab !== undefined);
  if (options.output === 'json') io.out(JSON.stringify({ version: 1, labs }, undefined, 2));
  else if (labs.length === 0)
    io.out(`No lab${name === undefined ? '' : ` ${name}`} is up; \`pointsman lab up\` builds one.`);
  else
    for (const [index, lab] of labs.entries())
      for (const line of ['', ...textOf(lab, Date.now())].slice(index === 0 ? 1 : 0)) io.out(line);
  if (labs.length === 0) return 1;
  return labs.every(isWell) ? 0 : 3;
}

function isWell({ phase, apiTrouble, nodes }: LabReport): boolean {
  return (
    phase === 'ready' &&
    apiTrouble === '' &&
    nodes.every(({ pointsman }) => pointsman.health === 'healthy' || pointsman.health === 'none')
  );
}

async function reportOf(choice: LabChoice): Promise<LabReport | undefined> {
  const { name, folder } = chosenLab(choice);
  const state = readState(folder);
  if (state === undefined) return undefined;
  const runs = isRunning(state.process);
  const pods = runs
    ? await podsByNode(state.kubeconfig)
    : { kind: 'silent' as const, because: 'the lab has crashed' };
  const sys = createKoffiSys();
  return {
    name,
    phase: runs ? state.phase : 'crashed',
    pid: state.process.pid,
    startedAt: state.startedAt,
    server: state.server,
    kubeconfig: state.kubeconfig,
    log: folder.log,
    apiTrouble: pods.kind === 'silent' ? pods.because : '',
    nodes: await Promise.all(state.nodes.map((node) => nodeReport(sys, node, pods))),
  };
}

async function nodeReport(sys: Sys, node: NodeState, pods: PodCounts): Promise<NodeReport> {
  const { name, zone, addresses, pointsman } = node;
  const count = pods.kind === 'counted' ? (pods.counts.get(name) ?? 0) : null;
  if (pointsman === null)
    return { name, zone, addresses, pods: count, pointsman: { health: 'none', pid: null, because: '' } };
  const health = await probeHealth(sys, { namespace: namedNamespace(node.namespace), ...pointsman.healthz });
  const { process } = pointsman;
  return {
    name,
    zone,
    addresses,
    pods: count,
    pointsman: {
      health: health.kind,
      pid: process !== null && isRunning(process) ? process.pid : null,
      because: health.kind === 'healthy' ? '' : health.because,
    },
  };
}

type PodCounts =
  | { readonly kind: 'counted'; readonly counts: ReadonlyMap<string, number> }
  | { readonly kind: 'silent'; readonly because: string };

async function podsByNode(kubeconfig: string): Promise<PodCounts> {
  const { code, stdout, stderr } = await runKubectl(kubeconfig, [
    'get',
    'pods',
    '-A',
    '--request-timeout=3s',
    '-o',
    'jsonpath={range .items[*]}{.spec.nodeName}{"\\n"}{end}',
  ]);
  if (code !== 0) return { kind: 'silent', because: stderr.trim().split('\n').at(-1) ?? '' };
  const counts = new Map<string, number>();
  for (const node of stdout.split('\n')) if (node !== '') counts.set(node, (counts.get(node) ?? 0) + 1);
  return { kind: 'counted', counts };
}

/** The report for people. */
export function textOf(lab: LabReport, now: number): readonly string[] {
  const age = humanDuration(now - Date.parse(lab.startedAt));
  const phase =
    lab.phase === 'ready'
      ? `up for ${age}, process ${lab.pid}`
      : lab.phase === 'starting'
        ? `starting for ${age}, process ${lab.pid}`
        : `crashed; \`pointsman lab down${nameFlag(lab.name)}\` removes what is left`;
  const rows = lab.nodes.map(({ name, zone, addresses, pods, pointsman }) => [
    name,
    zone,
    addresses.join(' '),
    pods === null ? '?' : String(pods),
    pointsman.health === 'healthy'
      ? `healthy, process ${pointsman.pid ?? '?'}`
      : pointsman.health === 'none'
        ? 'none'
        : `${pointsman.health}${pointsman.pid === null ? '' : `, process ${pointsman.pid}`}: ${pointsman.because}`,
  ]);
  return [
    `Lab ${lab.name}: ${phase}`,
    `  API server  ${lab.server}${lab.apiTrouble === '' ? '' : `: ${lab.apiTrouble}`}`,
    `  kubeconfig  ${lab.kubeconfig}`,
    `  log         ${lab.log}`,
    ...aligned([['NODE', 'ZONE', 'ADDRESSES', 'PODS', 'POINTSMAN'], ...rows]).map((line) => `  ${line}`),
  ];
}

/** Columns as wide as their widest cell, three spaces apart, as kubectl has them. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
