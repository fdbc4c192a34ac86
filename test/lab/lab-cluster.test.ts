// A lab without Pointsmans: what the API, the controllers, the network and the Pods do together.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { tcpSocketIn } from '../../src/kernel/netns.ts';
import type { Service } from '../../src/lab/api/resources/service/types.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { until } from '../../src/lab/until.ts';
import { endpointsOf, readyPods, testLab } from './test-lab.ts';

const HELLO = readFileSync(new URL('../../examples/hello.yaml', import.meta.url), 'utf8');

async function kubectl(lab: Lab, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await lab.kubectl(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Asks a Pod for something by POST. */
async function post(
  lab: Lab,
  to: { readonly namespace: string; readonly address: string },
  path: string,
): Promise<void> {
  const { namespace, address } = to;
  const socket = new Socket({
    fd: tcpSocketIn(lab.sys, { namespace, family: 4 }),
    readable: true,
    writable: true,
  });
  socket.connect({ host: address, port: 8080 });
  const headers = { Host: address, Connection: 'close' };
  const asked = request({ method: 'POST', path, headers, createConnection: () => socket });
  const answered = once(asked, 'response');
  asked.end();
  const [response] = await answered;
  assert.equal(response.statusCode, 200);
  response.resume();
}

test('the stock kubectl applies the example, and its Pods run on both nodes, answer, and are endpoints', async () => {
  await using lab = await testLab({ pointsman: false });
  await lab.apply(HELLO);
  const pods = await readyPods(lab, 'hello', 4);
  assert.deepEqual([...new Set(pods.map(({ spec }) => spec.nodeName))].sort(), ['node-a', 'node-b']);
  for (const family of ['IPv4', 'IPv6'] as const)
    assert.deepEqual(
      await endpointsOf(lab, 'hello/echo', family, (all) => all.length === 4),
      ['echo-1', 'echo-2', 'echo-3', 'echo-4'].map((name) => `${name} ready serving`),
    );
  for (const { metadata, spec, status } of pods)
    for (const { ip } of status.podIPs ?? []) {
      const asked = { namespace: lab.namespaceOf('outside'), address: ip };
      for (const [protocol, port] of [
        ['TCP', 8080],
        ['UDP', 9090],
      ] as const) {
        const answer = await lab.client.ask({ ...asked, protocol, port });
        assert.equal(answer.kind, 'answered', `${protocol} ${ip}`);
        if (answer.kind === 'answered')
          assert.deepEqual([answer.pod, answer.node], [`hello/${metadata.name}`, spec.nodeName]);
      }
    }
  assert.match(await kubectl(lab, 'get', 'pods', '-n', 'hello', '-o', 'wide'), /echo-1 +1\/1 +Running +0/);
  assert.match(await kubectl(lab, 'get', 'nodes', '-o', 'wide'), /node-b +Ready .* 192\.0\.2\.12 /);
  assert.match(
    await kubectl(lab, 'describe', 'pod', 'echo-1', '-n', 'hello'),
    /Scheduled .* Successfully assigned hello\/echo-1/,
  );
  assert.match(await kubectl(lab, 'describe', 'node', 'node-a'), /topology\.kubernetes\.io\/zone=zone-a/);
});

test('endpoints follow the readiness annotation, a request to the Pod, and the Pod’s deletion', async () => {
  await using lab = await testLab({ pointsman: false });
  await lab.apply(HELLO);
  const [pod] = await readyPods(lab, 'hello', 4);
  const has = (line: string) => (all: readonly string[]) => all.length === 4 && all.includes(line);
  const seen = (line: string) => endpointsOf(lab, 'hello/echo', 'IPv4', has(line));
  await seen('echo-1 ready serving');
  await kubectl(lab, 'annotate', '-n', 'hello', 'pod/echo-1', 'pointsman.example/ready=false');
  await seen('echo-1');
  await kubectl(lab, 'annotate', '--overwrite', '-n', 'hello', 'pod/echo-1', 'pointsman.example/ready=true');
  await seen('echo-1 ready serving');

  const address = pod?.status.podIP ?? '';
  await post(lab, { namespace: lab.namespaceOf('node-b'), address }, '/unready');
  await seen('echo-1');
  await post(lab, { namespace: lab.namespaceOf('node-b'), address }, '/ready');
  await seen('echo-1 ready serving');

  const deletion = lab.kubectl(['delete', 'pod', 'echo-1', '-n', 'hello']);
  await seen('echo-1 serving terminating');
  const draining = await lab.client.ask({
    namespace: lab.namespaceOf('node-b'),
    address,
    port: 8080,
    protocol: 'TCP',
  });
  assert.equal(draining.kind, 'answered', 'a terminating Pod serves on');
  assert.equal((await deletion).code, 0);
  const rest = await endpointsOf(lab, 'hello/echo', 'IPv4', (all) => all.length === 3);
  assert.deepEqual(
    rest,
    ['echo-2', 'echo-3', 'echo-4'].map((name) => `${name} ready serving`),
  );
  assert.deepEqual(
    lab.topology
      .pods()
      .map(({ name }) => name)
      .sort(),
    ['hello/echo-2', 'hello/echo-3', 'hello/echo-4'],
  );
});

test('deleting the namespace takes its Pods, Services and slices with it', async () => {
  await using lab = await testLab({ pointsman: false });
  await lab.apply(HELLO);
  await readyPods(lab, 'hello', 4);
  await kubectl(lab, 'delete', 'namespace', 'hello');
  const rest = await kubectl(lab, 'get', 'pods,services,endpointslices', '-n', 'hello', '-o', 'name');
  assert.equal(rest, '');
  assert.deepEqual(lab.topology.pods(), []);
});

test('a Service of type LoadBalancer gets an address of each family, and loses them with its type', async () => {
  await using lab = await testLab({ pointsman: false, nodes: 1 });
  await lab.apply(`
apiVersion: v1
kind: Service
metadata: { name: front }
spec:
  type: LoadBalancer
  ipFamilyPolicy: RequireDualStack
  ports: [{ port: 80 }]
`);
  const ingress = ({ status }: Service) => (status.loadBalancer.ingress ?? []).map(({ ip }) => ip);
  const front = (services: readonly Service[]) => services.find(({ metadata }) => metadata.name === 'front');
  const given = (count: number) =>
    until<Service>(lab.api, 'services', 'addresses', (services) => {
      const service = front(services);
      return service !== undefined && ingress(service).length === count;
    });
  const service = front(await given(2));
  assert.match(
    service === undefined ? '' : ingress(service).join(' '),
    /^203\.0\.113\.\d+ 2001:db8:113::\w+$/,
  );
  assert.match(await kubectl(lab, 'get', 'service', 'front'), /LoadBalancer .* 203\.0\.113\./);
  await kubectl(lab, 'patch', 'service', 'front', '-p', '{"spec":{"type":"ClusterIP"}}');
  await given(0);
});

test('a Pod on its host’s network has the node’s addresses and answers there', async () => {
  await using lab = await testLab({ pointsman: false, nodes: 1 });
  await lab.apply(`
apiVersion: v1
kind: Pod
metadata: { name: agent }
spec:
  hostNetwork: true
  containers: [{ name: echo, image: x, ports: [{ containerPort: 8080 }] }]
`);
  const [pod] = await readyPods(lab, 'default', 1);
  assert.deepEqual(pod?.status.podIPs, [{ ip: '192.0.2.11' }, { ip: '2001:db8::11' }]);
  const answer = await lab.client.ask({
    namespace: lab.namespaceOf('outside'),
    address: '192.0.2.11',
    port: 8080,
    protocol: 'TCP',
  });
  assert.deepEqual([answer.kind, answer.kind === 'answered' && answer.pod], ['answered', 'default/agent']);
});

test('the API server is reached from the nodes’ network under the address that the kubernetes Service leads to', async () => {
  await using lab = await testLab({ pointsman: false, nodes: 1 });
  const [endpoint] = await endpointsOf(lab, 'default/kubernetes', 'IPv4', (all) => all.length === 1);
  assert.equal(endpoint, 'ready');
  const answer = await lab.client.ask({
    namespace: lab.namespaceOf('node-a'),
    address: '192.0.2.1',
    port: 6443,
    protocol: 'TCP',
  });
  // It speaks TLS, which the client does not: an answer, but none of a Pod.
  assert.ok(
    answer.kind === 'failed' && answer.how !== 'refused' && answer.how !== 'timeout',
    JSON.stringify(answer),
  );
});

test('two labs live side by side with the same addresses', async () => {
  await using one = await testLab({ pointsman: false });
  await using other = await testLab({ pointsman: false });
  await one.apply(HELLO);
  await readyPods(one, 'hello', 4);
  assert.match(await kubectl(other, 'get', 'pods', '-A', '-o', 'name'), /^$/);
  assert.deepEqual(other.topology.pods(), []);
});
