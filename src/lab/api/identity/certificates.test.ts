import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { createAuthority } from './certificates.ts';

test('an issued certificate names its addresses and is signed by the authority', () => {
  const authority = createAuthority();
  const { certificate } = authority.issue({
    commonName: 'kube-apiserver',
    purpose: 'server',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    addresses: ['127.0.0.1', '10.96.0.1', 'fd00:96::1'],
  });
  const root = new X509Certificate(authority.certificate);
  const issued = new X509Certificate(certificate);
  assert.equal(root.ca, true);
  assert.equal(issued.ca, false);
  assert.equal(issued.checkIssued(root), true);
  assert.equal(issued.verify(root.publicKey), true);
  assert.equal(issued.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(issued.checkIP('fd00:96::1'), 'fd00:96::1');
  assert.equal(issued.checkIP('127.0.0.2'), undefined);
  assert.equal(issued.checkHost('kubernetes.default.svc'), 'kubernetes.default.svc');
});

test('a client certificate carries the user and the groups', () => {
  const { certificate } = createAuthority().issue({
    commonName: 'admin',
    organizations: ['system:masters', 'more'],
    purpose: 'client',
  });
  assert.equal(new X509Certificate(certificate).subject, 'O=system:masters\nO=more\nCN=admin');
});

test('two ends with certificates of one authority trust each other, and not those of another', async () => {
  const authority = createAuthority();
  const server = createServer({
    ...keyPair(authority.issue({ commonName: 'server', purpose: 'server', addresses: ['127.0.0.1'] })),
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const authorized = async (from: typeof authority): Promise<boolean> => {
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const client = connect({
      port,
      host: '127.0.0.1',
      ca: authority.certificate,
      ...keyPair(from.issue({ commonName: 'someone', purpose: 'client' })),
    });
    await once(client, 'secureConnect');
    assert.equal(client.authorized, true);
    const [socket] = await accepted;
    const { authorized: is } = socket;
    client.destroy();
    socket.destroy();
    return is;
  };
  try {
    assert.equal(await authorized(authority), true);
    assert.equal(await authorized(createAuthority()), false);
  } finally {
    server.close();
  }
});

function keyPair(pair: { certificate: string; key: string }): { cert: string; key: string } {
  return { cert: pair.certificate, key: pair.key };
}
