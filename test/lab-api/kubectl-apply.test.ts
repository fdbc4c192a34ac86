import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { createRig, type Kubectl, type Rig } from './rig.ts';

const WEB = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]
`;

describe('kubectl apply', () => {
  let rig: Rig;
  let kubectl: Kubectl;
  const json = async (...args: string[]): Promise<ReturnType<typeof JSON.parse>> =>
    JSON.parse(await kubectl.ok(['get', '-n', 'shop', '-o', 'json', ...args]));
  before(async () => {
    rig = await createRig();
    kubectl = rig.kubectl;
  });
  beforeEach(() => {
    const { api } = rig.server;
    api.delete({ resource: 'namespaces', name: 'shop' });
    api.create('namespaces', { metadata: { name: 'shop' } });
  });
  after(() => rig[Symbol.asyncDispose]());

  test('creates, leaves alone what is the same, and changes what is not', async () => {
    assert.equal(await kubectl.ok(['apply', '-f', '-'], { stdin: WEB }), 'service/web created\n');
    const made = await json('svc', 'web');
    assert.equal(await kubectl.ok(['apply', '-f', '-'], { stdin: WEB }), 'service/web unchanged\n');
    const changed = WEB.replace('port: 80,', 'port: 81,').replace(
      ', {name: dns, port: 53, protocol: UDP}',
      '',
    );
    assert.equal(await kubectl.ok(['apply', '-f', '-'], { stdin: changed }), 'service/web configured\n');
    const now = await json('svc', 'web');
    assert.equal(now.spec.clusterIP, made.spec.clusterIP);
    assert.equal(now.metadata.uid, made.metadata.uid);
    assert.deepEqual(now.spec.ports, [{ name: 'http', port: 81, protocol: 'TCP', targetPort: 8080 }]);
  });

  test('takes lists and files with several documents', async () => {
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'shop' },
      data: { a: 'b' },
    };
    const list = stringify({ apiVersion: 'v1', kind: 'List', items: [parse(WEB), config] });
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: c, image: i}]}';
    assert.equal(
      await kubectl.ok(['apply', '-f', '-'], { stdin: `${list}\n---\n${pod}\n` }),
      'service/web created\nconfigmap/c created\npod/p created\n',
    );
  });

  test('refuses unknown fields and values of a wrong type', async () => {
    const unknown = WEB.replace('selector:', 'selektor:');
    assert.match(
      await kubectl.fails(['apply', '-f', '-'], { stdin: unknown }),
      /Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec\.selektor"/,
    );
    const warned = await kubectl.run(['apply', '--validate=warn', '-f', '-'], { stdin: unknown });
    assert.equal(warned.code, 0);
    assert.match(warned.stderr, /Warning: unknown field "spec\.selektor"/);
    assert.match(
      await kubectl.fails(['apply', '-f', '-'], { stdin: WEB.replace('port: 80', 'port: x') }),
      /cannot unmarshal string into Go struct field ServicePort\.spec\.ports\.port of type int32/,
    );
  });

  test('says what it would do: dry runs and diff', async () => {
    assert.match(
      await kubectl.ok(['apply', '--dry-run=server', '-f', '-'], { stdin: WEB }),
      /created \(server dry run\)/,
    );
    await kubectl.fails(['get', 'svc', 'web', '-n', 'shop']);
    await kubectl.ok(['apply', '-f', '-'], { stdin: WEB });
    const diff = await kubectl.run(['diff', '-f', '-'], { stdin: WEB.replace('port: 80,', 'port: 81,') });
    assert.equal(diff.code, 1);
    assert.match(diff.stdout, /^-\s+port: 80$/m);
    assert.match(diff.stdout, /^\+\s+port: 81$/m);
    assert.equal((await json('svc', 'web')).spec.ports[0].port, 80);
  });

  test('on the server: keeps owners apart, refuses to take fields, and takes them by force', async () => {
    const apply = (stdin: string, ...args: string[]): Promise<string> =>
      kubectl.ok(['apply', '--server-side', '-f', '-', ...args], { stdin });
    assert.equal(await apply(WEB), 'service/web serverside-applied\n');
    const other = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {team: a}}
spec: {sessionAffinity: ClientIP, ports: [{port: 80, targetPort: 9090}]}
`;
    const refused = await kubectl.fails(['apply', '--server-side', '--field-manager=other', '-f', '-'], {
      stdin: other,
    });
    assert.match(
      refused,
      /Apply failed with 1 conflict: conflict with "kubectl" using v1: \.spec\.ports\[port=80,protocol="TCP"\]\.targetPort/,
    );
    await apply(other, '--field-manager=other', '--force-conflicts');
    const both = await json('svc', 'web', '--show-managed-fields');
    assert.equal(both.spec.ports[0].targetPort, 9090);
    assert.equal(both.spec.sessionAffinity, 'ClientIP');
    assert.deepEqual(
      both.metadata.managedFields.map(
        (entry: { manager: string; operation: string }) => `${entry.manager} ${entry.operation}`,
      ),
      ['other Apply', 'kubectl Apply'],
    );
    // What a manager leaves out now, and nobody else wants, goes.
    await apply(
      other.replace(', labels: {team: a}', '').replace('sessionAffinity: ClientIP, ', ''),
      '--field-manager=other',
    );
    const less = await json('svc', 'web');
    assert.equal(less.metadata.labels, undefined);
    assert.equal(less.spec.sessionAffinity, 'None');
    assert.equal(less.spec.ports.length, 2);
  });

  test('on the server: takes over what was applied by the client', async () => {
    await kubectl.ok(['apply', '-f', '-'], { stdin: WEB });
    const taken = WEB.replace(', {name: dns, port: 53, protocol: UDP}', '');
    await kubectl.ok(['apply', '--server-side', '-f', '-'], { stdin: taken });
    assert.deepEqual(
      (await json('svc', 'web')).spec.ports.map((port: { port: number }) => port.port),
      [80],
    );
  });
});
