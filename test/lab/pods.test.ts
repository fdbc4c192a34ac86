import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { PodStart } from '../../src/lab/controllers/pod-host.ts';
import type { Topology } from '../../src/lab/network/topology.ts';
import { type Answer, tally } from '../../src/lab/pods/answer.ts';
import { createClient } from '../../src/lab/pods/client.ts';
import { startLoad } from '../../src/lab/pods/load.ts';
import { createPodNetwork } from '../../src/lab/pods/pod-network.ts';
import { openDescriptors } from '../kernel/open-descriptors.ts';
import { sys, testTopology } from './test-topology.ts';

const client = createClient(sys);
const PORTS = [
  { protocol: 'TCP', port: 8080 },
  { protocol: 'UDP', port: 9090 },
] as const;
const pod = (key: string, parts: Partial<PodStart> = {}): PodStart => ({
  key,
  node: 'node-a',
  hostNetwork: false,
  ports: PORTS,
  ...parts,
});

async function stage(nodes = 1) {
  await using made = new AsyncDisposableStack();
  const topology = made.use(await testTopology(nodes));
  const readiness: [string, boolean][] = [];
  const onReadiness = (key: string, ready: boolean): number => readiness.push([key, ready]);
  const pods = made.use(createPodNetwork({ sys, topology, onReadiness }));
  const kept = made.move();
  return { topology, pods, readiness, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Runs curl in a part of the lab and gives its output. */
async function curl(topology: Topology, part: string, ...parameters: readonly string[]): Promise<string> {
  const command = [
    'netns',
    'exec',
    topology.namespaceName(part),
    'curl',
    '-sS',
    '--max-time',
    '20',
    ...parameters,
  ];
  const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}
const failure = (answer: Answer): string => (answer.kind === 'failed' ? answer.how : answer.pod);

test('a Pod says who it is, where it runs, and whom it sees, over TCP and UDP and both families', async () => {
  await using lab = await stage(2);
  const [one, two] = await lab.pods.start([pod('default/one'), pod('default/two', { node: 'node-b' })]);
  assert.deepEqual(two, {
    kind: 'running',
    podIps: ['10.244.2.2', 'fd00:244:2::2'],
    hostIps: ['192.0.2.12', '2001:db8::12'],
  });
  assert.equal(one?.kind, 'running');
  const namespace = lab.topology.namespacePath('default/one');
  for (const [index, address] of lab.topology.addresses('default/two').entries()) {
    const source = { address: lab.topology.addresses('default/one')[index] ?? '', port: 4711 };
    for (const { protocol, port } of PORTS) {
      const answer = await client.ask({ namespace, protocol, address, port, source });
      assert.partialDeepStrictEqual(answer, {
        kind: 'answered',
        pod: 'default/two',
        node: 'node-b',
        client: source,
        server: { address, port },
      });
    }
  }
});

test('curl shows the answer as one line, also on the loopback of the Pod', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one')]);
  assert.match(
    await curl(lab.topology, 'default/one', 'http://127.0.0.1:8080/'),
    /^\{"pod":"default\/one","node":"node-a","server":"127\.0\.0\.1:8080","client":"127\.0\.0\.1:\d+"\}\n$/,
  );
});

test('curl shows the answer in words when it asks for plain text', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one')]);
  const words = /^default\/one on node-a, at \[::1\]:8080, sees \[::1\]:\d+\n$/;
  const url = 'http://[::1]:8080/';
  assert.match(await curl(lab.topology, 'default/one', '-H', 'Accept: text/plain', url), words);
  assert.match(await curl(lab.topology, 'default/one', `${url}?text`), words);
});

test('a failure says at once how it failed', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one')]);
  const namespace = lab.topology.namespacePath('outside');
  const address = '10.244.1.2';
  for (const protocol of ['TCP', 'UDP'] as const) {
    const answer = await client.ask({ namespace, protocol, address, port: 1 });
    assert.equal(failure(answer), 'refused');
  }
  assert.equal(
    failure(await client.ask({ namespace, protocol: 'TCP', address: '192.88.99.1', port: 1 })),
    'unreachable',
  );
  const silent = {
    namespace,
    protocol: 'UDP',
    address,
    port: 9090,
    sleepSeconds: 60,
    timeoutMs: 50,
  } as const;
  assert.equal(failure(await client.ask(silent)), 'timeout');
  assert.equal(failure(await client.ask({ ...silent, protocol: 'TCP', port: 8080 })), 'timeout');
});

test('a datagram that the own rules of a client hold back is not permitted', async () => {
  await using lab = await stage();
  const { topology } = lab;
  execFileSync('ip', ['netns', 'exec', topology.namespaceName('outside'), 'nft', '-f', '-'], {
    input: 'table inet own { chain output { type filter hook output priority 0; policy drop; }; }',
  });
  const namespace = topology.namespacePath('outside');
  const answer = await client.ask({ namespace, protocol: 'UDP', address: '10.244.1.2', port: 9090 });
  assert.equal(failure(answer), 'not-permitted');
});

test('what the client itself cannot do is an error and no answer', async () => {
  await using lab = await stage();
  const namespace = lab.topology.namespacePath('outside');
  const source = { address: '192.0.2.250' };
  const question = { protocol: 'TCP', address: '10.244.1.2', port: 1 } as const;
  await assert.rejects(client.ask({ ...question, namespace, source }), { code: 'E_SYSCALL' });
  await assert.rejects(client.ask({ ...question, namespace: '/run/netns/none' }), { code: 'E_SYSCALL' });
});

test('thousands of connections are answered, and no descriptor stays open', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one'), pod('default/two')]);
  const namespace = lab.topology.namespacePath('default/one');
  const [address = ''] = lab.topology.addresses('default/two');
  const before = openDescriptors().length;
  for (const { protocol, port } of PORTS) {
    const answers = await client.askTimes(2000, { namespace, protocol, address, port });
    assert.deepEqual([...tally(answers).pods], [['default/two', 2000]]);
  }
  using open = await client.open({ namespace, address, port: 8080 });
  assert.equal(failure(open.first), 'default/two');
  // The servers' ends may take a turn longer; those of the open connection are two.
  while (openDescriptors().length > before + 2) await open.ask();
});

test('a connection that is open lives on while other Pods come and go, and ends with its own Pod', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one'), pod('default/two')]);
  const namespace = lab.topology.namespacePath('outside');
  const [address = ''] = lab.topology.addresses('default/one');
  using open = await client.open({ namespace, address, port: 8080 });
  await lab.pods.stop(['default/two']);
  await lab.pods.start([pod('default/three')]);
  const again = await open.ask();
  assert.equal(failure(again), 'default/one');
  assert.deepEqual(
    again.kind === 'answered' && again.client,
    open.first.kind === 'answered' && open.first.client,
  );
  const waiting = open.ask({ sleepSeconds: 600 });
  await lab.pods.stop(['default/one']);
  assert.equal(failure(await waiting), 'reset');
  assert.equal(failure(await open.ask()), 'reset');
});

test('a lab that goes closes every descriptor, also of connections and requests that are under way', async () => {
  const before = openDescriptors();
  {
    await using lab = await stage();
    await lab.pods.start([pod('default/one'), pod('default/host', { hostNetwork: true })]);
    const namespace = lab.topology.namespacePath('outside');
    const [address = ''] = lab.topology.addresses('default/one');
    using _open = await client.open({ namespace, address, port: 8080 });
    using other = await client.open({ namespace, address, port: 8080 });
    void other.ask({ sleepSeconds: 600 });
  }
  // A socket that was destroyed is closed in a later turn.
  while (openDescriptors().length > before.length) await new Promise(setImmediate);
});

test('a steady load notices nothing while other Pods come and go, and notices the end of its own', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one'), pod('default/two')]);
  const [address = ''] = lab.topology.addresses('default/one');
  const namespace = lab.topology.namespacePath('outside');
  const question = { namespace, protocol: 'TCP', address, port: 8080, timeoutMs: 300 } as const;
  await using load = startLoad(client, { question, ratePerSecond: 200 });
  await lab.pods.stop(['default/two']);
  await lab.pods.start([pod('default/three')]);
  while (load.report().answered < 20) await client.ask(question);
  assert.deepEqual([...load.report().failures], []);
  await lab.pods.stop(['default/one']);
  while (load.report().failed === 0) await client.ask(question);
  const report = await load.stop();
  assert.deepEqual([...report.pods], [['default/one', report.answered]]);
  assert.equal(report.examples[0]?.how, [...report.failures.keys()][0]);
});

test('a stream sends a line again and again over one connection', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one')]);
  const [address = ''] = lab.topology.addresses('default/one');
  const lines = await curl(lab.topology, 'outside', '-N', `http://${address}:8080/stream?every=0.01&count=4`);
  assert.equal(lines.split('\n').length, 5);
  assert.equal(new Set(lines.trim().split('\n')).size, 1);
});

test('a Pod can be asked to fail its readiness, by POST only', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/one')]);
  const at = (path: string): string => `http://127.0.0.1:8080${path}`;
  await curl(lab.topology, 'default/one', at('/unready'));
  assert.deepEqual(lab.readiness, []);
  const health = (): Promise<string> =>
    curl(lab.topology, 'default/one', '-o', '/dev/null', '-w', '%{http_code}', at('/healthz'));
  assert.equal(await health(), '200');
  await curl(lab.topology, 'default/one', '-X', 'POST', at('/unready'));
  assert.equal(await health(), '503');
  await curl(lab.topology, 'default/one', '-X', 'POST', at('/ready'));
  assert.equal(await health(), '200');
  assert.deepEqual(lab.readiness, [
    ['default/one', false],
    ['default/one', true],
  ]);
});

test('a Pod on the network of its node answers from the address that was asked', async () => {
  await using lab = await stage();
  await lab.pods.start([pod('default/host', { hostNetwork: true })]);
  const namespace = lab.topology.namespacePath('outside');
  for (const address of lab.topology.addresses('node-a'))
    for (const { protocol, port } of PORTS)
      assert.equal(failure(await client.ask({ namespace, protocol, address, port })), 'default/host');
  await lab.pods.stop(['default/host']);
  assert.ok(lab.topology.nodes().length === 1);
});

test('a Pod that cannot run says why, leaves nothing, and does not keep others from running', async () => {
  await using lab = await stage();
  const outcomes = await lab.pods.start([
    pod('default/one', { hostNetwork: true }),
    pod('default/lost', { node: 'nowhere' }),
    pod('default/sctp', { ports: [{ protocol: 'SCTP', port: 7 }] }),
    pod('default/two'),
  ]);
  const because = (key: number): string => {
    const outcome = outcomes[key];
    return outcome?.kind === 'failed' ? outcome.because : 'running';
  };
  assert.equal(because(0), 'running');
  assert.match(because(1), /no node nowhere/);
  assert.match(because(2), /SCTP port 7 .* cannot be served/);
  assert.equal(because(3), 'running');
  const [again] = await lab.pods.start([pod('default/again', { hostNetwork: true })]);
  assert.match(again?.kind === 'failed' ? again.because : 'running', /port 8080: EADDRINUSE/);
  assert.deepEqual(
    lab.topology.pods().map(({ name }) => name),
    ['default/two'],
  );
  await lab.pods.stop(['default/sctp', 'default/never']);
});
