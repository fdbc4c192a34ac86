// Sockets and work in other network namespaces, as Node's servers and clients use them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createTcpServer, Socket } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  inNetns,
  listenerIn,
  OWN_NAMESPACE,
  preparePool,
  tcpSocketIn,
  udpSocketIn,
} from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { openDescriptors } from './open-descriptors.ts';
import { createTestNamespace } from './test-namespace.ts';

const sys = createKoffiSys();
await preparePool();

const own = (): string => readlinkSync(OWN_NAMESPACE);

test('work runs inside the namespace and the thread is back afterwards', () => {
  using namespace = createTestNamespace();
  const before = own();
  const inside = inNetns(sys, namespace.path, own);
  assert.notEqual(inside, before);
  assert.equal(own(), before);
});

test('the thread is back also when the work throws', () => {
  using namespace = createTestNamespace();
  const before = own();
  assert.throws(
    () =>
      inNetns(sys, namespace.path, (): number => {
        throw new Error('inside');
      }),
    /inside/,
  );
  assert.equal(own(), before);
});

test('a path that is missing or no namespace is named in the error', () => {
  assert.throws(() => inNetns(sys, '/run/netns/pt-none', own), {
    code: 'E_SYSCALL',
    message: 'cannot open the network namespace /run/netns/pt-none: ENOENT (no such file or directory)',
  });
  assert.throws(() => inNetns(sys, '/dev/null', own), {
    code: 'E_SYSCALL',
    message: 'cannot enter the network namespace /dev/null: EINVAL (invalid argument)',
  });
});

test('synchronous fs inside reads the namespace, asynchronous fs outside the own one', async () => {
  using namespace = createTestNamespace();
  namespace.run('ip', 'link', 'add', 'pt0', 'type', 'bridge');
  const inside = inNetns(sys, namespace.path, () => readFileSync('/proc/thread-self/net/dev', 'utf8'));
  assert.match(inside, /pt0:/);
  assert.doesNotMatch(readFileSync('/proc/thread-self/net/dev', 'utf8'), /pt0:/);
});

for (const { family, address, any } of [
  { family: 4, address: '127.0.0.1', any: '0.0.0.0' },
  { family: 6, address: '::1', any: '::' },
] as const) {
  test(`an HTTP server and client of this process talk IPv${family} inside another namespace`, async () => {
    using namespace = createTestNamespace();
    const server = createServer((_, response) => response.end('from inside'));
    server.listen({ fd: listenerIn(sys, { namespace: namespace.path, address: any, port: 18080 }) });
    await once(server, 'listening');

    const socket = new Socket({
      fd: tcpSocketIn(sys, { namespace: namespace.path, family }),
      readable: true,
      writable: true,
    });
    socket.connect({ host: address, port: 18080 });
    const asked = request({
      createConnection: () => socket,
      host: address,
      headers: { connection: 'close' },
    });
    asked.end();
    const [response] = await once(asked, 'response');
    let body = '';
    for await (const piece of response) body += piece;
    assert.equal(body, 'from inside');

    // Nobody listens there outside.
    const outside = new Socket().connect({ host: address, port: 18080 });
    const [error] = await once(outside, 'error');
    assert.equal(error.code, 'ECONNREFUSED');

    server.close();
    await once(server, 'close');
  });

  test(`UDP sockets of this process talk IPv${family} inside another namespace`, async () => {
    using namespace = createTestNamespace();
    const server = createSocket(`udp${family}`);
    server.bind({ fd: udpSocketIn(sys, { namespace: namespace.path, address: any, port: 15353 }) });
    server.on('message', (message, peer) => server.send(`${message} back`, peer.port, peer.address));
    const client = createSocket(`udp${family}`);
    client.bind({ fd: udpSocketIn(sys, { namespace: namespace.path, address: any, port: 0 }) });

    const answered = once(client, 'message');
    client.send('there and', 15353, address);
    const [message] = await answered;
    assert.equal(String(message), 'there and back');
    server.close();
    client.close();
  });
}

test('a client can choose its source address', async () => {
  using namespace = createTestNamespace();
  const server = createTcpServer((socket) => socket.end(String(socket.remoteAddress)));
  server.listen({ fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: 18082 }) });
  await once(server, 'listening');
  const from = { address: '127.0.0.7', port: 0 };
  const fd = tcpSocketIn(sys, { namespace: namespace.path, family: 4, from });
  const socket = new Socket({ fd, readable: true, writable: true });
  socket.connect({ host: '127.0.0.1', port: 18082 });
  const [data] = await once(socket, 'data');
  assert.equal(String(data), '127.0.0.7');
  server.close();
  await once(server, 'close');
});

test('a refused connection inside is a normal connect error', async () => {
  using namespace = createTestNamespace();
  const fd = tcpSocketIn(sys, { namespace: namespace.path, family: 4 });
  const socket = new Socket({ fd, readable: true, writable: true });
  socket.connect({ host: '127.0.0.1', port: 1 });
  const [error] = await once(socket, 'error');
  assert.match(error.message, /^connect ECONNREFUSED 127\.0\.0\.1:1/);
});

test('IPv4 and IPv6 listeners share a port, since IPv6 sockets are IPv6-only', () => {
  using namespace = createTestNamespace();
  const fds = ['0.0.0.0', '::'].map((address) =>
    listenerIn(sys, { namespace: namespace.path, address, port: 18081 }),
  );
  for (const fd of fds) sys.close(fd);
  assert.equal(new Set(fds).size, 2);
});

test('an address that cannot be bound is an error that names it, and leaks no descriptor', () => {
  using namespace = createTestNamespace();
  const before = openDescriptors().length;
  assert.throws(() => listenerIn(sys, { namespace: namespace.path, address: '192.0.2.1', port: 80 }), {
    code: 'E_SYSCALL',
    message: 'cannot bind to 192.0.2.1 port 80: EADDRNOTAVAIL (address not available)',
  });
  assert.equal(openDescriptors().length, before);
});

test("libuv's pool stays for good where it was first used: preparePool keeps it at home", () => {
  using namespace = createTestNamespace();
  const script = fileURLToPath(new URL('./pool-trap.ts', import.meta.url));
  const run = (...args: readonly string[]): string =>
    execFileSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script, namespace.path, ...args],
      {
        encoding: 'utf8',
      },
    ).trim();
  assert.equal(run(), 'away');
  assert.equal(run('prepared'), 'home');
});
