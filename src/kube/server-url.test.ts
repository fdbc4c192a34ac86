import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverUrl } from './server-url.ts';

for (const [value, tls, href] of [
  ['https://192.0.2.10:6443', true, 'https://192.0.2.10:6443/'],
  ['https://[2001:db8::1]:6443/k8s/c-1', true, 'https://[2001:db8::1]:6443/k8s/c-1'],
  ['http://localhost:8080', true, 'http://localhost:8080/'],
  ['192.0.2.10:6443', true, 'https://192.0.2.10:6443/'],
  ['localhost:8080', false, 'http://localhost:8080/'],
  ['https://api.example', true, 'https://api.example/'],
] as const) {
  test(`${value} with ${tls ? 'a CA' : 'no CA'} is ${href}`, () => {
    assert.equal(serverUrl(value, 'server', tls).href, href);
  });
}

for (const [value, problem] of [
  ['', /that is no URL/],
  ['https://', /that is no URL/],
  ['host name:1', /that is no URL/],
  ['ftp://192.0.2.10', /only https and http/],
  ['https://192.0.2.10?x=1', /query/],
  ['https://me:secret@192.0.2.10', /credentials belong under users/],
] as const) {
  test(`"${value}" is refused`, () => {
    assert.throws(
      () => serverUrl(value, 'server', true),
      (error: Error & { readonly code?: string }) =>
        error.code === 'E_KUBECONFIG' && problem.test(error.message) && !error.message.includes('secret'),
    );
  });
}
