import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createRig, type Kubectl, type Rig } from './rig.ts';

describe('kubectl', () => {
  let rig: Rig;
  let kubectl: Kubectl;
  const inShop = (...args: string[]): Promise<string> => kubectl.ok(['-n', 'shop', ...args]);
  const json = async (...args: string[]): Promise<ReturnType<typeof JSON.parse>> =>
    JSON.parse(await inShop('get', '-o', 'json', ...args));
  const pod = (name: string, nodeName?: string): void => {
    rig.server.api.create('pods', {
      metadata: { name, namespace: 'shop', labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'echo', image: 'echo:1', ports: [{ name: 'http', containerPort: 8080 }] }],
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    });
  };
  before(async () => {
    rig = await createRig();
    kubectl = rig.kubectl;
  });
  beforeEach(() => {
    const { api } = rig.server;
    const pods = api.list('pods', { namespace: 'shop' });
    if (pods.ok)
      for (const { metadata } of pods.items)
        api.delete(
          { resource: 'pods', namespace: 'shop', name: metadata.name ?? '' },
          { gracePeriodSeconds: 0 },
        );
    api.delete({ resource: 'namespaces', name: 'shop' });
    api.create('namespaces', { metadata: { name: 'shop' } });
    api.create('services', {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    });
  });
  after(() => rig[Symbol.asyncDispose]());

  test('create makes namespaces and Services of every type', async () => {
    await kubectl.ok(['create', 'namespace', 'other']);
    await inShop('create', 'service', 'clusterip', 'a', '--tcp=80:8080');
    await inShop('create', 'service', 'nodeport', 'b', '--tcp=80:8080', '--node-port=30123');
    await inShop('create', 'service', 'loadbalancer', 'c', '--tcp=80:8080');
    await inShop('create', 'service', 'externalname', 'd', '--external-name=example.org');
    await inShop('create', 'service', 'clusterip', 'e', '--clusterip=None');
    const { items } = await json('svc', '-l', 'app');
    assert.deepEqual(
      items.map((item: { spec: { type: string } }) => item.spec.type),
      ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'ClusterIP'],
    );
    assert.equal(items[1].spec.ports[0].nodePort, 30123);
    assert.equal(items[4].spec.clusterIP, 'None');
    const file = rig.file(
      'gen.json',
      '{"apiVersion":"v1","kind":"Service","metadata":{"generateName":"gen-"},"spec":{"ports":[{"port":1}]}}',
    );
    assert.match(await inShop('create', '-f', file), /^service\/gen-[a-z0-9]{5} created\n$/);
    await kubectl.ok(['delete', 'namespace', 'other']);
  });

  test('create, run and expose also send what else there is', async () => {
    await inShop('create', 'configmap', 'c', '--from-literal=a=b');
    await inShop('create', 'secret', 'generic', 's', '--from-literal=a=b');
    await inShop('create', 'serviceaccount', 'robot');
    assert.deepEqual((await json('secret', 's')).data, { a: 'Yg==' });
    await inShop('run', 'p', '--image=echo', '--port=8080', '--labels=app=p');
    await inShop('expose', 'pod', 'p', '--name=exposed');
    assert.deepEqual((await json('svc', 'exposed')).spec.selector, { app: 'p' });
    const token = await inShop('create', 'token', 'robot');
    const whoami = await kubectl.run([
      '--kubeconfig',
      rig.file(
        'robot',
        rig.server
          .kubeconfig(rig.url)
          .replace(/client-(certificate|key)-data: .*/g, '')
          .replace(/(\s+)user:\s*$/m, `$1user: {token: ${token}}`),
      ),
      'auth',
      'whoami',
    ]);
    assert.match(whoami.stdout, /system:serviceaccount:shop:robot/);
  });

  test('patch changes by all three kinds of patches', async () => {
    await inShop('patch', 'svc', 'web', '-p', '{"spec":{"ports":[{"port":81,"name":"more"}]}}');
    assert.equal((await json('svc', 'web')).spec.ports.length, 2);
    await inShop('patch', 'svc', 'web', '-p', '{"spec":{"ports":[{"port":81,"$patch":"delete"}]}}');
    assert.equal((await json('svc', 'web')).spec.ports.length, 1);
    await inShop(
      'patch',
      'svc',
      'web',
      '--type=merge',
      '-p',
      '{"spec":{"selector":{"app":null,"tier":"a"}}}',
    );
    assert.deepEqual((await json('svc', 'web')).spec.selector, { tier: 'a' });
    await inShop(
      'patch',
      'svc',
      'web',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/type","value":"NodePort"}]',
    );
    const { spec } = await json('svc', 'web');
    assert.equal(spec.type, 'NodePort');
    assert.ok(spec.ports[0].nodePort >= 30000);
    assert.match(await inShop('patch', 'svc', 'web', '-p', '{"spec":{"type":"NodePort"}}'), /\(no change\)/);
    await inShop('patch', 'pod', 'none', '-p', '{}').catch((error: unknown) =>
      assert.match(String(error), /pods "none" not found/),
    );
    pod('status', 'node-a');
    await inShop(
      'patch',
      'pod',
      'status',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Running"}}',
    );
    assert.equal((await json('pod', 'status')).status.phase, 'Running');
  });

  test('label, annotate and edit change what they say', async () => {
    await inShop('label', 'svc', 'web', 'tier=a');
    await inShop('annotate', 'svc', 'web', 'note=hello');
    const labelled = await json('svc', 'web');
    assert.equal(labelled.metadata.labels.tier, 'a');
    assert.equal(labelled.metadata.annotations.note, 'hello');
    await inShop('label', 'svc', 'web', 'tier-');
    assert.equal((await json('svc', 'web')).metadata.labels, undefined);
    const editor = rig.file('editor.sh', '#!/bin/sh\nsed -i "s/port: 80$/port: 8000/" "$1"\n');
    chmodSync(editor, 0o755);
    const edited = await kubectl.ok(['edit', 'svc', 'web', '-n', 'shop'], { env: { KUBE_EDITOR: editor } });
    assert.match(edited, /service\/web edited/);
    assert.equal((await json('svc', 'web')).spec.ports[0].port, 8000);
  });

  test('replace takes the newest version and refuses a stale one', async () => {
    const old = await json('svc', 'web');
    old.spec.ports[0].port = 82;
    const file = rig.file('old.json', JSON.stringify(old));
    await inShop('replace', '-f', file);
    old.spec.ports[0].port = 83;
    rig.file('old.json', JSON.stringify(old));
    assert.match(
      await kubectl.fails(['replace', '-n', 'shop', '-f', file]),
      /Error from server \(Conflict\): error when replacing ".*": Operation cannot be fulfilled on services "web": the object has been modified; please apply your changes to the latest version and try again/,
    );
  });

  test('delete removes at once what nothing holds, and waits for what needs time', async () => {
    // Newer ones add the namespace.
    assert.match(await inShop('delete', 'svc', 'web'), /^service "web" deleted( from shop namespace)?\n$/);
    await kubectl.fails(['get', 'svc', 'web', '-n', 'shop']);
    pod('p', 'node-a');
    const { api } = rig.server;
    // A kubelet's part: the Pod's time is over as soon as it is asked to go.
    using watch = api.watch('pods', { namespace: 'shop' }, 'now', ({ type, object }) => {
      if (type === 'MODIFIED' && object.metadata.deletionTimestamp !== undefined)
        setImmediate(() =>
          api.delete({ resource: 'pods', namespace: 'shop', name: 'p' }, { gracePeriodSeconds: 0 }),
        );
    }) as Disposable;
    assert.ok(watch);
    assert.match(await inShop('delete', 'pod', 'p'), /pod "p" deleted/);
    pod('q', 'node-a');
    await inShop('delete', 'pod', 'q', '--force', '--grace-period=0');
    for (const name of ['x', 'y']) pod(name);
    await inShop('delete', 'pods', '--all');
    assert.deepEqual((await json('pods')).items, []);
    await kubectl.ok(['delete', 'namespace', 'shop']);
    assert.match(await kubectl.fails(['get', 'ns', 'shop']), /namespaces "shop" not found/);
  });

  test('wait sees conditions, fields and deletions come', async () => {
    pod('p', 'node-a');
    const { api } = rig.server;
    const place = { resource: 'pods', namespace: 'shop', name: 'p' } as const;
    const becomes = (status: object): void => {
      api.patch(place, 'merge', { status: { ...status } }, { subresource: 'status' });
    };
    const waiting = inShop('wait', '--for=condition=Ready', 'pod/p', '--timeout=30s');
    becomes({ conditions: [{ type: 'Ready', status: 'True' }] });
    assert.match(await waiting, /pod\/p condition met/);
    const running = inShop('wait', '--for=jsonpath={.status.phase}=Running', 'pod/p', '--timeout=30s');
    becomes({ phase: 'Running' });
    assert.match(await running, /condition met/);
    const gone = inShop('wait', '--for=delete', 'pod/p', '--timeout=30s');
    api.delete(place, { gracePeriodSeconds: 0 });
    await gone;
  });

  test('describe tells of Services, Pods, Nodes, EndpointSlices and Namespaces', async () => {
    const { api } = rig.server;
    pod('p', 'node-b');
    api.create('nodes', { metadata: { name: 'node-b' }, spec: { podCIDR: '10.244.2.0/24' } });
    api.create('endpointslices', {
      metadata: { name: 'web-x', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints: [{ addresses: ['10.244.2.9'], conditions: { ready: true } }],
    });
    const [service] = [api.get({ resource: 'services', namespace: 'shop', name: 'web' })];
    assert.ok(service?.ok);
    api.create('events', {
      metadata: { name: 'web.1', namespace: 'shop' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Service',
        namespace: 'shop',
        name: 'web',
        uid: service.object.metadata.uid,
      },
      reason: 'Tested',
      message: 'it was looked at',
      type: 'Normal',
      firstTimestamp: new Date().toISOString(),
      lastTimestamp: new Date().toISOString(),
      count: 1,
      source: { component: 'test' },
    });
    const text = await inShop('describe', 'svc', 'web');
    assert.match(text, /Endpoints:\s+10\.244\.2\.9:8080/);
    assert.match(text, /Normal\s+Tested\s+\S+\s+test\s+it was looked at/);
    assert.match(await inShop('describe', 'pod', 'p'), /Node:\s+node-b/);
    assert.match(
      await kubectl.ok(['describe', 'node', 'node-b']),
      /Non-terminated Pods:\s+\(1 in total\)[\s\S]*shop\s+p /,
    );
    assert.match(await inShop('describe', 'endpointslice', 'web-x'), /Addresses:\s+10\.244\.2\.9/);
    assert.match(await kubectl.ok(['describe', 'ns', 'shop']), /Status:\s+Active/);
    const events = await inShop('events', '--for', 'service/web');
    assert.match(events, /Normal\s+Tested\s+Service\/web\s+it was looked at/);
    assert.match(await inShop('get', 'events'), /Tested\s+service\/web/);
    assert.match(
      await inShop('get', 'events.events.k8s.io', '-o', 'jsonpath={.items[0].note}'),
      /it was looked at/,
    );
  });

  test('cordon and drain work through evictions', async () => {
    const { api } = rig.server;
    api.create('nodes', { metadata: { name: 'node-c' } });
    pod('loose', 'node-c');
    api.patch(
      { resource: 'pods', namespace: 'shop', name: 'loose' },
      'merge',
      { status: { phase: 'Failed' } },
      { subresource: 'status' },
    );
    await kubectl.ok(['drain', 'node-c', '--force', '--ignore-daemonsets', '--timeout=30s']);
    assert.match(await kubectl.ok(['get', 'node', 'node-c']), /SchedulingDisabled/);
    assert.match(await kubectl.fails(['get', 'pod', 'loose', '-n', 'shop']), /not found/);
  });

  test('errors say what the real server says', async () => {
    const create = (json: object): Promise<string> =>
      kubectl.fails([
        'create',
        '-n',
        'shop',
        '-f',
        rig.file('bad.json', JSON.stringify({ apiVersion: 'v1', kind: 'Service', ...json })),
      ]);
    assert.match(
      await create({ metadata: { name: 'web' }, spec: { ports: [{ port: 1 }] } }),
      /Error from server \(AlreadyExists\): .*services "web" already exists/,
    );
    assert.match(
      await create({
        metadata: { name: 'bad' },
        spec: { ports: [{ port: 1 }, { port: 70000, protocol: 'X' }] },
      }),
      /The Service "bad" is invalid:[\s\S]*spec\.ports\[0\]\.name: Required value[\s\S]*spec\.ports\[1\]\.port: Invalid value: 70000: must be between 1 and 65535, inclusive[\s\S]*spec\.ports\[1\]\.protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"/,
    );
    assert.match(
      await create({ metadata: { name: 'Bad_Name' }, spec: { ports: [{ port: 1 }] } }),
      /metadata\.name: Invalid value: "Bad_Name": a DNS-1035 label must consist of/,
    );
    assert.match(
      await create({ metadata: { name: 'far', namespace: 'nowhere' }, spec: { ports: [{ port: 1 }] } }),
      /the namespace from the provided object "nowhere" does not match the namespace "shop"/,
    );
    assert.match(
      await kubectl.fails(['patch', 'svc', 'web', '-n', 'shop', '-p', '{"spec":{"clusterIP":"10.96.0.77"}}']),
      /The Service "web" is invalid: spec\.clusterIPs\[0\]: Invalid value: \["10\.96\.0\.77"\]: may not change once set/,
    );
    assert.match(
      await kubectl.fails(['create', 'svc', 'clusterip', 'x', '--tcp=1', '-n', 'nowhere']),
      /namespaces "nowhere" not found/,
    );
    assert.match(
      await kubectl.fails(['delete', 'ns', 'default']),
      /namespaces "default" is forbidden: this namespace may not be deleted/,
    );
  });

  test('without a credential, or with one that was revoked, nothing is told', async () => {
    const text = rig.server.kubeconfig(rig.url, { by: 'token', user: { name: 'guest', groups: [] } });
    const file = rig.file('guest', text);
    assert.match(await kubectl.ok(['--kubeconfig', file, 'auth', 'whoami']), /guest/);
    rig.server.tokens.revoke(/token: (\S+)/.exec(text)?.[1] ?? '');
    assert.match(
      await kubectl.fails(['--kubeconfig', file, 'get', 'svc']),
      /You must be logged in to the server|Unauthorized/,
    );
  });
});
