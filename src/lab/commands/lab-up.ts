// `pointsman lab up`: builds a lab in the background and says how to go on.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERROR_CODES, type ErrorCode, PointsmanError } from '../../base/errors.ts';
import { READY_ANNOTATION } from '../controllers/pod-status.ts';
import type { PointsmanOptions } from '../nodes/pointsmans.ts';
import { refuseRunning } from '../state/claim-lab.ts';
import { readState, type StateFolder } from '../state/state-folder.ts';
import type { LabChoice, LabIo } from './io.ts';
import { runKubectl } from './kubectl.ts';
import { chosenLab, nameFlag } from './lab-of.ts';
import type { LabPlan, LabReport } from './lab-process.ts';

export interface LabUpOptions extends LabChoice {
  /** 2 unless said otherwise. */
  readonly nodes?: number;
  readonly pointsman?: PointsmanOptions | false;
  /** Files to apply once it is up. */
  readonly manifests?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROCESS = new URL('./lab-process.ts', import.meta.url);

/** Resolves with 0 once the lab is up. Throws E_LAB when it cannot be; nothing of it is left then. */
export async function labUp(options: LabUpOptions, io: LabIo): Promise<number> {
  const { name, folder } = chosenLab(options);
  refuseRunning(name, folder);
  const begun = performance.now();
  await startInBackground(options, name, folder, io);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  for (const file of options.manifests ?? []) {
    const { code, stdout, stderr } = await runKubectl(folder.kubeconfig, ['apply', '-f', file]);
    for (const line of stdout.trimEnd().split('\n')) io.err(line);
    if (code !== 0)
      throw new PointsmanError('E_LAB', `the lab is up, but kubectl apply -f ${file}: ${stderr.trim()}`);
  }
  const state = readState(folder);
  const nodes = state?.nodes.map((node) => node.name) ?? [];
  io.out(`Lab ${name} is up after ${seconds} s: ${nodes.join(', ')}, API server ${state?.server ?? ''}`);
  const pointsman = onPath('pointsman') ? 'pointsman' : join(ROOT, 'bin/pointsman');
  const words = { name, kubeconfig: folder.kubeconfig, node: nodes[0] ?? '', pointsman };
  for (const line of howToGoOn(words, onPath('kubectl'))) io.out(line);
  return 0;
}

interface Words {
  readonly name: string;
  readonly kubeconfig: string;
  readonly node: string;
  /** How to call Pointsman. */
  readonly pointsman: string;
}

/** What a new user can do next. */
function howToGoOn({ name, kubeconfig, node, pointsman }: Words, hasKubectl: boolean): readonly string[] {
  const flag = nameFlag(name);
  return [
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    ...(hasKubectl ? [] : [`  alias kubectl='sh ${join(ROOT, 'tools/kubectl.sh')}'`]),
    `  kubectl apply -f ${join(ROOT, 'examples/hello.yaml')}`,
    '  kubectl get pods,services,endpointslices -n hello -o wide',
    `  kubectl annotate --overwrite -n hello pod/echo-1 ${READY_ANNOTATION}=false`,
    '',
    'Commands in a Pod, on a node, or outside the cluster:',
    '',
    `  ${pointsman} lab exec${flag} hello/echo-1 -- curl -s http://CLUSTER-IP`,
    `  ${pointsman} lab exec${flag} ${node} -- nft list ruleset`,
    `  ${pointsman} lab exec${flag} outside -- curl -s http://CLUSTER-IP`,
    '',
    `  ${pointsman} lab status${flag}`,
    `  ${pointsman} lab down${flag}`,
  ];
}

async function startInBackground(
  options: LabUpOptions,
  name: string,
  folder: StateFolder,
  io: LabIo,
): Promise<void> {
  const { nodes, pointsman, stateRoot } = options;
  const plan: LabPlan = {
    name,
    ...(nodes !== undefined && { nodes }),
    ...(pointsman !== undefined && { pointsman }),
    ...(stateRoot !== undefined && { stateRoot }),
  };
  const child = spawnLab(plan, folder);
  const giveUp = (): void => void child.kill('SIGTERM');
  io.signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const report = await reportOf(child);
    const givenUp = io.signal?.aborted === true;
    if (report.kind === 'ready' && !givenUp) return;
    await ended(child);
    if (report.kind === 'ready' || givenUp)
      throw new PointsmanError('E_LAB', `the lab ${name} was given up while it started`);
    const code = report.code in ERROR_CODES ? (report.code as ErrorCode) : 'E_LAB';
    throw new PointsmanError(code, `the lab ${name} cannot start: ${report.message}`, {
      hint: report.hint ?? `see ${folder.log}`,
    });
  } finally {
    io.signal?.removeEventListener('abort', giveUp);
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function spawnLab(plan: LabPlan, folder: StateFolder): ChildProcess {
  let log: number;
  try {
    mkdirSync(dirname(folder.log), { recursive: true, mode: 0o755 });
    log = openSync(folder.log, 'w', 0o600);
  } catch (cause) {
    throw new PointsmanError('E_PERMISSION', `cannot write ${folder.log}`, {
      hint: 'a lab needs root',
      cause,
    });
  }
  try {
    return fork(fileURLToPath(PROCESS), [JSON.stringify(plan)], {
      detached: true,
      cwd: '/',
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}

/** What the lab says first; a failure when it ends without a word. */
function reportOf(child: ChildProcess): Promise<LabReport> {
  return new Promise((resolve) => {
    // The lab's process sends nothing else.
    child.once('message', (message) => resolve(message as LabReport));
    const silent = (why: string): void =>
      resolve({ kind: 'failed', code: 'E_LAB', message: `its process ${why}`, hint: undefined });
    child.once('exit', (code, signal) => silent(`ended with ${signal ?? code}`));
    child.once('error', (error) => silent(`does not start: ${error.message}`));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
