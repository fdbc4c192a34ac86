// `pointsman demo`: a cluster on this machine, Services applied with kubectl, and real connections through the kernel.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../base/backoff.ts';
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createLab, type Lab } from '../lab.ts';
import type { Answer } from '../pods/answer.ts';
import { startLoad } from '../pods/load.ts';
import { type ShareRow, shareRow, shareTable } from './shares.ts';

export interface DemoOptions {
  /** Show everything, clean up and end; else stay until interrupted. */
  readonly once: boolean;
  readonly name?: string;
}

export interface DemoIo {
  /** Prints a line. */
  out(line: string): void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const MANIFEST = fileURLToPath(new URL('../../../examples/hello.yaml', import.meta.url));
const CONNECTIONS = 400;
const UDP_PORT = 90;
/** New connections a second while endpoints change, and connections that stay open meanwhile. */
const RATE = 100;
const KEPT_OPEN = 16;

/** Runs the demonstration; resolves to the exit code. What goes wrong throws, and the lab is taken down all the same. */
export async function runDemo({ once, name = 'demo' }: DemoOptions, io: DemoIo): Promise<number> {
  const step = (text: string): void => io.out(`\n== ${text}`);
  const begun = performance.now();
  step('A cluster on this machine: two nodes, a Pointsman in nftables mode on each');
  await using lab = await createLab({ name, log: io.log });
  io.out(
    `up in ${((performance.now() - begun) / 1000).toFixed(1)} s: ${lab.nodes.map((node) => node.name).join(', ')}; API server at ${await serverOf(lab)}`,
  );

  step('kubectl apply -f examples/hello.yaml');
  for (const line of (await kubectl(lab, ['apply', '-f', MANIFEST])).trim().split('\n')) io.out(line);
  await kubectl(lab, ['-n', 'hello', 'wait', '--for=condition=Ready', 'pod', '--all', '--timeout=30s']);
  for (const line of (await kubectl(lab, ['-n', 'hello', 'get', 'services,endpointslices']))
    .trim()
    .split('\n'))
    io.out(line);

  const addresses = await serviceAddresses(lab);
  await programmed(lab, addresses);
  step(`${CONNECTIONS} connections each, from a Pod, from a node and from outside`);
  const rows = await ask(lab, addresses);
  for (const line of shareTable(rows)) io.out(line);

  step('The Service without endpoints refuses at once');
  const refused = await lab.client.ask({
    namespace: lab.namespaceOf('hello/echo-1'),
    protocol: 'TCP',
    address: addresses.empty,
    port: 80,
  });
  if (refused.kind === 'answered' || refused.how !== 'refused')
    throw wrong(`a Service without endpoints should refuse, and ${describe(refused)}`);
  io.out(`${addresses.empty}:80 refused after ${refused.ms.toFixed(1)} ms`);

  step('Endpoints change under load: a Pod is deleted, a new one comes, all while connections are made');
  await changeUnderLoad(lab, addresses.echo, io);

  step('What is in the kernel: the same chains for any number of Services');
  io.out(
    `ip netns exec ${lab.topology.namespaceName('node-a')} nft list map ip pointsman endpoints   (Debian package nftables)`,
  );

  if (once) {
    io.out(
      `\nAll as it should be, in ${((performance.now() - begun) / 1000).toFixed(1)} s. The lab is taken down.`,
    );
    return 0;
  }
  step('Go on yourself, in another terminal');
  for (const line of goOn(lab)) io.out(line);
  io.out('\nCtrl-C takes the lab down.');
  await sleep(2 ** 31 - 1, io.signal);
  return 0;
}

interface Addresses {
  readonly echo: string;
  readonly echo6: string;
  readonly sticky: string;
  readonly empty: string;
}

async function kubectl(lab: Lab, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await lab.kubectl(args);
  if (code !== 0) throw new PointsmanError('E_LAB', `kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

async function serverOf(lab: Lab): Promise<string> {
  return kubectl(lab, ['config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}']);
}

async function serviceAddresses(lab: Lab): Promise<Addresses> {
  const of = async (service: string): Promise<readonly string[]> =>
    (
      await kubectl(lab, ['-n', 'hello', 'get', 'service', service, '-o', 'jsonpath={.spec.clusterIPs[*]}'])
    ).split(' ');
  const [[echo = '', echo6 = ''], [sticky = ''], [empty = '']] = await Promise.all([
    of('echo'),
    of('sticky'),
    of('empty'),
  ]);
  return { echo, echo6, sticky, empty };
}

/** Waits until every node balances over all four Pods: events need a moment from the API server to each kernel. */
async function programmed(lab: Lab, { echo, echo6, sticky }: Addresses): Promise<void> {
  const until = performance.now() + 10_000;
  for (const node of lab.nodes) {
    for (const address of [echo, echo6]) {
      for (;;) {
        const answers = await lab.client.askTimes(40, {
          namespace: node.namespace,
          protocol: 'TCP',
          address,
          port: 80,
        });
        const pods = new Set(answers.flatMap((answer) => (answer.kind === 'answered' ? [answer.pod] : [])));
        if (pods.size === 4) break;
        if (performance.now() > until) {
          throw wrong(
            `${node.name} should reach four Pods at ${address} by now, and ${answers[0] === undefined ? 'asks nobody' : describe(answers[0])}`,
          );
        }
        await sleep(20);
      }
    }
    await lab.client.ask({ namespace: node.namespace, protocol: 'TCP', address: sticky, port: 80 });
  }
}

async function ask(lab: Lab, { echo, echo6, sticky }: Addresses): Promise<readonly ShareRow[]> {
  const pod = { from: 'Pod echo-1', namespace: lab.namespaceOf('hello/echo-1') };
  const node = { from: 'node-b', namespace: lab.namespaceOf('node-b') };
  const outside = { from: 'outside', namespace: lab.namespaceOf('outside') };
  const plan = [
    { ...pod, to: `${echo}:80 TCP`, protocol: 'TCP', address: echo, port: 80 },
    { ...pod, to: `[${echo6}]:80 TCP`, protocol: 'TCP', address: echo6, port: 80 },
    { ...pod, to: `${echo}:${UDP_PORT} UDP`, protocol: 'UDP', address: echo, port: UDP_PORT },
    { ...node, to: `${echo}:80 TCP`, protocol: 'TCP', address: echo, port: 80 },
    { ...outside, to: `${echo}:80 TCP`, protocol: 'TCP', address: echo, port: 80 },
    { ...outside, to: `[${echo6}]:${UDP_PORT} UDP`, protocol: 'UDP', address: echo6, port: UDP_PORT },
    { ...pod, to: `${sticky}:80 TCP (sticky)`, protocol: 'TCP', address: sticky, port: 80 },
  ] as const;
  const rows: ShareRow[] = [];
  for (const { from, to, ...question } of plan) {
    const answers = await lab.client.askTimes(CONNECTIONS, question, { atOnce: 50 });
    const failed = answers.find(({ kind }) => kind === 'failed');
    if (failed !== undefined) throw wrong(`${from} asked ${to}, and ${describe(failed)}`);
    const row = shareRow(from, to, answers);
    const expected = to.includes('sticky') ? 1 : 4;
    if (row.pods.size !== expected)
      throw wrong(`${from} asked ${to}, and ${row.pods.size} Pods answered, not ${expected}`);
    rows.push(row);
  }
  return rows;
}

async function changeUnderLoad(lab: Lab, address: string, io: DemoIo): Promise<void> {
  const target = { namespace: lab.namespaceOf('node-a'), address, port: 80 };
  const open = await Promise.all(Array.from({ length: KEPT_OPEN }, () => lab.client.open(target)));
  await using load = startLoad(lab.client, { question: { ...target, protocol: 'TCP' }, ratePerSecond: RATE });
  await kubectl(lab, ['-n', 'hello', 'delete', 'pod', 'echo-2', '--wait=true']);
  io.out('echo-2 deleted');
  await lab.apply(await podManifest('echo-5'));
  await kubectl(lab, ['-n', 'hello', 'wait', '--for=condition=Ready', 'pod/echo-5', '--timeout=30s']);
  io.out('echo-5 ready');
  // After a change the next one waits for minSyncPeriod, a second by default.
  if (!(await answers(lab, address, 'hello/echo-5'))) throw wrong('echo-5 never answered');
  await sleep(500);
  const report = await load.stop();
  for (const line of shareTable([{ ...report, from: 'node-a', to: `${address}:80 TCP`, seen: '' }]))
    io.out(line);
  const [first] = report.examples;
  if (first !== undefined)
    throw wrong(
      `${report.failed} of ${report.failed + report.answered} connections failed: ${first.how} (${first.detail})`,
    );
  io.out(`${report.answered} new connections in ${(report.durationMs / 1000).toFixed(1)} s, none failed`);
  const again = await Promise.all(open.map((connection) => connection.ask()));
  for (const connection of open) connection[Symbol.dispose]();
  const alive = again.filter(({ kind }) => kind === 'answered').length;
  const gone = alive < KEPT_OPEN ? '; the others were to echo-2, which is gone' : '';
  io.out(`of ${KEPT_OPEN} that were open all the time ${alive} still answer${gone}`);
}

/** Whether a Pod answers before long. */
async function answers(lab: Lab, address: string, pod: string): Promise<boolean> {
  const question = { namespace: lab.namespaceOf('node-a'), protocol: 'TCP', address, port: 80 } as const;
  const until = performance.now() + 10_000;
  while (performance.now() < until) {
    const seen = await lab.client.askTimes(20, question);
    if (seen.some((answer) => answer.kind === 'answered' && answer.pod === pod)) return true;
    await sleep(50);
  }
  return false;
}

/** The first example Pod under another name. */
async function podManifest(name: string): Promise<string> {
  const documents = (await readFile(MANIFEST, 'utf8')).split('\n---\n');
  const pod = documents.find((text) => text.includes('name: echo-1')) ?? '';
  return pod.replace('name: echo-1', `name: ${name}`);
}

function goOn(lab: Lab): readonly string[] {
  return [
    `export KUBECONFIG=${lab.kubeconfig}`,
    'kubectl -n hello get pods,services,endpointslices -o wide',
    'kubectl -n hello delete pod echo-1',
    `ip netns exec ${lab.topology.namespaceName('node-a')} curl -s 'http://CLUSTER-IP/?text'`,
  ];
}

function describe(answer: Answer): string {
  return answer.kind === 'answered'
    ? `${answer.pod} answered`
    : `the answer was: ${answer.how} (${answer.detail})`;
}

function wrong(what: string): PointsmanError {
  return new PointsmanError('E_LAB', `the demonstration failed: ${what}`);
}
