// What docs/migrate.md counts on while a node goes from kube-proxy to Pointsman and back: the rules of both are in the
// kernel for a moment. Those of kube-proxy are what kube-proxy v1.36 wrote in nftables mode.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { listenerIn, preparePool, tcpSocketIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { nodeObject, serviceObject, sliceObject } from '../daemon/cluster-objects.ts';
import { PROGRAM, start } from '../daemon/process.ts';
import { startSmallApi } from '../daemon/small-api.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { ROOT } from './chart.ts';

const sys = createKoffiSys();
await preparePool();
/** Of the Service that both know; the fixture's kube-proxy sends to its one endpoint, OLD. */
const CLUSTER_IP = '10.96.10.1';
const OLD = '10.244.1.11';
const NEW = '10.244.1.99';
const NODE = '192.0.2.11';
/** A packet that is lost fails the test instead of holding it up. */
const PATIENCE_MS = 20_000;
const KUBE_PROXY_RULES = `${ROOT}test/fixtures/upstream/nft-ip.nft`;

/** Answers every line with its own address, in the namespace. */
async function serve(namespace: TestNamespace, address: string): Promise<AsyncDisposable> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('data', () => socket.write(address)).on('error', () => {});
  });
  server.listen({ fd: listenerIn(sys, { namespace: namespace.path, address, port: 8080 }) });
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Caller extends Disposable {
  /** Who answers on this connection. */
  ask(): Promise<string>;
}

/** A connection from the node to the Service. */
async function call({ path }: TestNamespace): Promise<Caller> {
  const fd = tcpSocketIn(sys, { namespace: path, family: 4 });
  const socket = new Socket({ fd, readable: true, writable: true }).setEncoding('utf8');
  socket.connect({ host: CLUSTER_IP, port: 80 });
  await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
  return {
    async ask() {
      socket.write('?');
      const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) });
      return answer;
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

async function whoAnswers(namespace: TestNamespace): Promise<string> {
  using caller = await call(namespace);
  // Awaited here: the connection is closed at the end of this scope.
  return await caller.ask();
}

test('of two proxies whose rules are in the kernel the later one decides, and connections outlive the rules', async () => {
  using namespace = createTestNamespace();
  for (const address of [OLD, NEW, NODE]) namespace.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo');
  namespace.run('ip', 'route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', NODE);
  await using _old = await serve(namespace, OLD);
  await using _new = await serve(namespace, NEW);
  namespace.run('nft', '-f', KUBE_PROXY_RULES);
  using before = await call(namespace);
  assert.equal(await before.ask(), OLD);

  await using api = await startSmallApi({
    fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: 6080 }),
  });
  api.put('services', serviceObject('single', CLUSTER_IP));
  api.put('endpointslices', sliceObject('single', [NEW]));
  api.put('nodes', nodeObject('node-a'));
  const flags = ['--master=http://127.0.0.1:6080', '--hostname-override=node-a', '--v=2'];
  await using proxy = start(namespace, PROGRAM, ...flags, '--conntrack-max-per-core=0');
  await proxy.said(/"Compared everything with the kernel".*because="the proxy starts"/);
  assert.equal(await whoAnswers(namespace), NEW);

  namespace.run('nft', 'delete', 'table', 'ip', 'kube-proxy');
  assert.equal(await before.ask(), OLD);
  assert.equal(await whoAnswers(namespace), NEW);

  // And back.
  using during = await call(namespace);
  assert.equal(await during.ask(), NEW);
  proxy.child.kill('SIGTERM');
  assert.equal((await proxy.ended).code, 0);
  namespace.run('nft', '-f', KUBE_PROXY_RULES);
  assert.equal(await whoAnswers(namespace), OLD);
  namespace.run('nft', 'delete', 'table', 'ip', 'pointsman');
  assert.equal(await during.ask(), NEW);
  assert.equal(await whoAnswers(namespace), OLD);
});
