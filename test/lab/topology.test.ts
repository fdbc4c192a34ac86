import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inNetns } from '../../src/kernel/netns.ts';
import { listNamespaces } from '../../src/lab/network/construction.ts';
import { createTopology, type Topology } from '../../src/lab/network/topology.ts';
import type { Answer } from '../../src/lab/pods/answer.ts';
import { createClient } from '../../src/lab/pods/client.ts';
import { startEchoServer } from '../../src/lab/pods/echo-server.ts';
import { sys, testTopology } from './test-topology.ts';

const client = createClient(sys);

/** A server in a part of the lab that calls itself after it. */
const serve = (topology: Topology, part: string) =>
  startEchoServer({
    sys,
    namespace: topology.namespacePath(part),
    pod: part,
    node: part,
    ports: [
      { protocol: 'TCP', port: 8080 },
      { protocol: 'UDP', port: 8080 },
    ],
  });
/** Who answered, and from which address it saw the client come. */
const seen = (answer: Answer): string =>
  answer.kind === 'answered'
    ? `${answer.pod} saw ${answer.client.address}`
    : `${answer.how}: ${answer.detail}`;
const namespacesOf = ({ prefix }: Topology): readonly string[] =>
  listNamespaces().filter((name) => name.startsWith(prefix));

test('Pods, nodes and the outside reach Pods and nodes with their own addresses, in both families', async (t) => {
  await using topology = await testTopology(2);
  await topology.addPods([
    { node: 'node-a', name: 'default/one' },
    { node: 'node-a', name: 'default/two' },
    { node: 'node-b', name: 'default/three' },
  ]);
  await using servers = new AsyncDisposableStack();
  const targets = ['default/two', 'default/three', 'node-b'];
  for (const part of targets) servers.use(await serve(topology, part));
  for (const from of ['default/one', 'node-a', 'outside'])
    for (const to of targets)
      for (const protocol of ['TCP', 'UDP'] as const)
        await t.test(`${from} to ${to} by ${protocol}`, async () => {
          for (const [index, address] of topology.addresses(to).entries()) {
            const namespace = topology.namespacePath(from);
            const answer = await client.ask({ namespace, protocol, address, port: 8080 });
            // A node uses the address of the device by which it sends: towards its own Pods that of their bridge.
            const own =
              from === 'node-a' && to === 'default/two'
                ? ['10.244.1.1', 'fd00:244:1::1']
                : topology.addresses(from);
            assert.equal(seen(answer), `${to} saw ${own[index]}`);
          }
        });
});

test('a Pod reaches a neighbour by way of the node, whose connection tracking sees it', async () => {
  await using topology = await testTopology(1);
  const [one] = await topology.addPods([
    { node: 'node-a', name: 'default/one' },
    { node: 'node-a', name: 'default/two' },
  ]);
  assert.ok(one);
  await using _server = await serve(topology, 'default/two');
  const counter = (family: string): number =>
    inNetns(sys, topology.namespacePath('node-a'), () => {
      const [names = '', values = ''] = readFileSync('/proc/thread-self/net/snmp', 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${family}:`));
      return Number(values.split(' ')[names.split(' ').indexOf('ForwDatagrams')]);
    });
  const before = counter('Ip');
  const [address = ''] = topology.addresses('default/two');
  await client.ask({ namespace: one.namespace, protocol: 'UDP', address, port: 8080 });
  assert.equal(counter('Ip') - before, 2);
});

test('a node that is added is reached by the others, and one that is removed takes its Pods along', async () => {
  await using topology = await testTopology(1);
  await topology.addPod({ node: 'node-a', name: 'default/one' });
  const added = await topology.addNode();
  assert.equal(added.name, 'node-b');
  const pod = await topology.addPod({ node: 'node-b', name: 'default/two' });
  const ask = async () => {
    await using _server = await serve(topology, 'default/two');
    return await client.ask({
      namespace: topology.namespacePath('default/one'),
      protocol: 'TCP',
      address: topology.addresses('default/two')[0] ?? '',
      port: 8080,
    });
  };
  assert.equal(seen(await ask()), 'default/two saw 10.244.1.2');
  await topology.removeNode('node-b');
  assert.deepEqual(
    topology.pods().map(({ name }) => name),
    ['default/one'],
  );
  assert.ok(!listNamespaces().some((name) => pod.namespace.endsWith(`/${name}`)));
  // Its number is free again, and its routes do not stand in the way.
  assert.equal((await topology.addNode('again')).number, 2);
  await topology.addPod({ node: 'again', name: 'default/two' });
  assert.equal(seen(await ask()), 'default/two saw 10.244.1.2');
});

test('the outside reaches Service addresses by way of the first node that is there', async () => {
  await using topology = await testTopology(2);
  await using servers = new AsyncDisposableStack();
  // Stand in for what a proxy does with these addresses.
  const addresses = ['10.96.0.10', 'fd00:96::10', '203.0.113.7', '2001:db8:113::7'];
  for (const node of ['node-a', 'node-b']) {
    for (const address of addresses)
      execFileSync('ip', ['-n', topology.namespaceName(node), 'addr', 'add', address, 'dev', 'lo']);
    servers.use(await serve(topology, node));
  }
  const answers = async () => {
    const namespace = topology.namespacePath('outside');
    const all = await client.askAll(
      addresses.map((address) => ({ namespace, protocol: 'TCP', address, port: 8080 })),
    );
    return new Set(all.map((answer) => (answer.kind === 'answered' ? answer.pod : seen(answer))));
  };
  assert.deepEqual(await answers(), new Set(['node-a']));
  await topology.removeNode('node-a');
  assert.deepEqual(await answers(), new Set(['node-b']));
});

test('the address of a Pod that left is used again as late as possible', async () => {
  await using topology = await testTopology(1);
  const add = async (name: string) => (await topology.addPod({ node: 'node-a', name })).addresses[0];
  assert.equal(await add('default/a'), '10.244.1.2');
  await topology.removePod('default/a');
  assert.equal(await add('default/b'), '10.244.1.3');
  const chosen = await topology.addPod({ node: 'node-a', name: 'default/c', addresses: ['10.244.1.4'] });
  assert.deepEqual(chosen.addresses, ['10.244.1.4']);
  assert.equal(await add('default/d'), '10.244.1.5');
});

test('what cannot be is refused and leaves nothing behind', async () => {
  await using topology = await testTopology(1);
  await topology.addPod({ node: 'node-a', name: 'default/a' });
  const before = namespacesOf(topology);
  for (const request of [
    { node: 'nowhere', name: 'default/b' },
    { node: 'node-a', name: 'default/a' },
    { node: 'node-a', name: 'default/b', addresses: ['10.244.1.2'] },
    { node: 'node-a', name: 'default/b', addresses: ['192.0.2.99'] },
  ]) {
    await assert.rejects(topology.addPods([{ node: 'node-a', name: 'default/ok' }, request]), {
      code: 'E_LAB',
    });
  }
  await assert.rejects(topology.addNode('node-a'), { code: 'E_LAB' });
  await assert.rejects(topology.removePod('default/b'), { code: 'E_LAB' });
  assert.throws(() => topology.namespacePath('default/b'), { code: 'E_LAB' });
  assert.deepEqual(namespacesOf(topology), before);
  assert.deepEqual(
    topology.pods().map(({ name }) => name),
    ['default/a'],
  );
  await topology.addPod({ node: 'node-a', name: 'default/ok' });
});

test('two labs live side by side with the same addresses, and a prefix can be used once', async () => {
  await using one = await testTopology(1);
  await using other = await testTopology(1);
  for (const topology of [one, other]) await topology.addPod({ node: 'node-a', name: 'default/web' });
  await using _server = await serve(one, 'default/web');
  const ask = (topology: Topology) =>
    client.ask({
      namespace: topology.namespacePath('outside'),
      protocol: 'TCP',
      address: topology.addresses('default/web')[0] ?? '',
      port: 8080,
    });
  assert.equal(seen(await ask(one)), 'default/web saw 198.51.100.2');
  assert.match(seen(await ask(other)), /^refused/);
  await assert.rejects(createTopology({ sys, prefix: one.prefix, nodes: 1 }), { code: 'E_LAB' });
  assert.equal(seen(await ask(one)), 'default/web saw 198.51.100.2');
});

test('a lab goes without a trace, and never touches the network of the machine', async () => {
  const machine = () =>
    [
      execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }),
      execFileSync('ip', ['-o', 'route', 'show', 'table', 'all'], { encoding: 'utf8' }),
      readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8'),
      readdirSync('/proc/sys/net/ipv4/conf').join(),
    ].join('\n');
  const before = machine();
  const topology = await testTopology(2);
  await topology.addPod({ node: 'node-a', name: 'default/a' });
  assert.equal(machine(), before);
  assert.ok(namespacesOf(topology).length > 0);
  await topology[Symbol.asyncDispose]();
  assert.deepEqual(namespacesOf(topology), []);
  assert.equal(machine(), before);
});
