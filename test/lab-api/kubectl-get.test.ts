import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { createRig, type Kubectl, type Rig, rowsOf } from './rig.ts';

const POD = {
  metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' } },
  spec: { nodeName: 'node-a', containers: [{ name: 'echo', image: 'echo:1' }] },
};

describe('kubectl get', () => {
  let rig: Rig;
  let kubectl: Kubectl;
  before(async () => {
    rig = await createRig();
    kubectl = rig.kubectl;
    const { api } = rig.server;
    api.create('namespaces', { metadata: { name: 'shop' } });
    api.create('nodes', {
      metadata: { name: 'node-a', labels: { 'node-role.kubernetes.io/worker': '' } },
      status: {},
    });
    api.patch(
      { resource: 'nodes', name: 'node-a' },
      'merge',
      {
        status: {
          addresses: [{ type: 'InternalIP', address: '192.0.2.11' }],
          conditions: [{ type: 'Ready', status: 'True' }],
          nodeInfo: {
            kubeletVersion: 'v1.36.0',
            osImage: 'Lab',
            kernelVersion: '6.18',
            containerRuntimeVersion: 'lab://1',
          },
        },
      },
      { subresource: 'status' },
    );
    for (const [name, type] of [
      ['web', 'ClusterIP'],
      ['door', 'NodePort'],
      ['front', 'LoadBalancer'],
    ] as const)
      api.create('services', {
        metadata: { name, namespace: 'shop', labels: { tier: name === 'web' ? 'inner' : 'outer' } },
        spec: { type, selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      });
    api.create('services', {
      metadata: { name: 'elsewhere', namespace: 'default' },
      spec: { type: 'ExternalName', externalName: 'example.org' },
    });
    api.create('pods', POD);
    api.create('endpointslices', {
      metadata: { name: 'web-x', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints: ['10.244.1.1', '10.244.1.2', '10.244.1.3', '10.244.1.4'].map((address) => ({
        addresses: [address],
      })),
    });
  });
  after(() => rig[Symbol.asyncDispose]());

  test('shows Services as a table, with the selector in the wide one', async () => {
    const rows = rowsOf(await kubectl.ok(['get', 'svc', '-n', 'shop', '-o', 'wide']));
    assert.deepEqual(
      rows.map(({ NAME, TYPE, 'EXTERNAL-IP': external, SELECTOR }) => [NAME, TYPE, external, SELECTOR]),
      [
        ['door', 'NodePort', '<none>', 'app=web'],
        ['front', 'LoadBalancer', '<pending>', 'app=web'],
        ['web', 'ClusterIP', '<none>', 'app=web'],
      ],
    );
    assert.match(rows[0]?.['PORT(S)'] ?? '', /^80:3\d{4}\/TCP$/);
    assert.match(rows[2]?.['CLUSTER-IP'] ?? '', /^10\.(9[6-9]|10\d|11[01])\./);
  });

  test('shows one object, and several kinds at once', async () => {
    assert.equal(rowsOf(await kubectl.ok(['get', 'svc', 'web', '-n', 'shop'])).length, 1);
    const both = await kubectl.ok(['get', 'svc/web', 'endpointslice/web-x', '-n', 'shop', '-o', 'name']);
    assert.equal(both, 'service/web\nendpointslice.discovery.k8s.io/web-x\n');
  });

  test('prints YAML and JSON with the defaults filled in', async () => {
    const yaml = parse(await kubectl.ok(['get', 'svc', 'web', '-n', 'shop', '-o', 'yaml']));
    assert.equal(yaml.kind, 'Service');
    assert.deepEqual(yaml.spec.ports, [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }]);
    assert.equal(yaml.spec.internalTrafficPolicy, 'Cluster');
    const json = JSON.parse(await kubectl.ok(['get', 'svc', '-n', 'shop', '-o', 'json']));
    assert.equal(json.kind, 'List');
    assert.deepEqual(
      json.items.map((item: { kind: string }) => item.kind),
      ['Service', 'Service', 'Service'],
    );
    assert.equal(
      await kubectl.ok(['get', 'svc', 'door', '-n', 'shop', '-o', 'jsonpath={.spec.type}']),
      'NodePort',
    );
  });

  test('selects by label and by field, and across namespaces', async () => {
    const names = async (...args: string[]): Promise<string[]> =>
      (await kubectl.ok(['get', 'svc', '-o', 'name', ...args])).split('\n').filter((line) => line !== '');
    assert.deepEqual(await names('-n', 'shop', '-l', 'tier=outer'), ['service/door', 'service/front']);
    assert.deepEqual(await names('-n', 'shop', '-l', 'tier in (inner),tier!=outer'), ['service/web']);
    assert.deepEqual(await names('-n', 'shop', '--field-selector', 'metadata.name=web'), ['service/web']);
    assert.deepEqual(await names('-n', 'shop', '--field-selector', 'spec.type!=NodePort'), [
      'service/front',
      'service/web',
    ]);
    const all = rowsOf(await kubectl.ok(['get', 'svc', '-A']));
    assert.deepEqual(
      all.map(({ NAMESPACE, NAME }) => `${NAMESPACE}/${NAME}`),
      ['default/elsewhere', 'default/kubernetes', 'shop/door', 'shop/front', 'shop/web'],
    );
  });

  test('pages long lists without a gap', async () => {
    const text = await kubectl.ok(['get', 'svc', '-A', '--chunk-size=2', '-o', 'name']);
    assert.equal(text.trimEnd().split('\n').length, 5);
  });

  test('shows Pods, Nodes, EndpointSlices and Namespaces as the real server does', async () => {
    const [pod] = rowsOf(await kubectl.ok(['get', 'pods', '-n', 'shop', '-o', 'wide']));
    assert.equal(pod?.READY, '0/1');
    assert.equal(pod?.STATUS, 'Pending');
    assert.equal(pod?.NODE, 'node-a');
    const [node] = rowsOf(await kubectl.ok(['get', 'nodes', '-o', 'wide']));
    assert.equal(node?.STATUS, 'Ready');
    assert.equal(node?.ROLES, 'worker');
    assert.equal(node?.['INTERNAL-IP'], '192.0.2.11');
    assert.equal(node?.['CONTAINER-RUNTIME'], 'lab://1');
    const [slice] = rowsOf(await kubectl.ok(['get', 'endpointslices', '-n', 'shop']));
    assert.equal(slice?.PORTS, '8080');
    assert.equal(slice?.ENDPOINTS, '10.244.1.1,10.244.1.2,10.244.1.3 + 1 more...');
    const namespaces = rowsOf(await kubectl.ok(['get', 'ns']));
    assert.deepEqual(
      namespaces.map(({ NAME, STATUS }) => `${NAME} ${STATUS}`),
      ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'shop'].map((name) => `${name} Active`),
    );
  });

  test('`get all` finds what is in the category', async () => {
    const text = await kubectl.ok(['get', 'all', '-n', 'shop', '-o', 'name']);
    assert.equal(text, 'pod/web-1\nservice/door\nservice/front\nservice/web\n');
  });

  test('watches: the table goes on with each change', async () => {
    const { api } = rig.server;
    let changed = false;
    const text = await kubectl.until(['get', 'pods', '-n', 'shop', '-w'], (stdout) => {
      if (!changed && stdout.includes('web-1')) {
        changed = true;
        api.patch(
          { resource: 'pods', namespace: 'shop', name: 'web-1' },
          'merge',
          {
            status: {
              phase: 'Running',
              containerStatuses: [
                {
                  name: 'echo',
                  ready: true,
                  restartCount: 2,
                  image: '',
                  imageID: '',
                  state: { running: {} },
                },
              ],
            },
          },
          { subresource: 'status' },
        );
      }
      return stdout.includes('Running');
    });
    const rows = rowsOf(text);
    assert.deepEqual(
      rows.map(({ READY, STATUS, RESTARTS }) => `${READY} ${STATUS} ${RESTARTS}`),
      ['0/1 Pending 0', '1/1 Running 2'],
    );
  });

  test('watches only what a selector matches', async () => {
    const { api } = rig.server;
    let changed = false;
    const text = await kubectl.until(
      ['get', 'svc', '-n', 'shop', '-l', 'tier=outer', '-w', '-o', 'name'],
      (stdout) => {
        if (!changed && stdout.includes('front')) {
          changed = true;
          api.create('services', {
            metadata: { name: 'inner', namespace: 'shop' },
            spec: { ports: [{ port: 1 }] },
          });
          api.create('services', {
            metadata: { name: 'outer', namespace: 'shop', labels: { tier: 'outer' } },
            spec: { ports: [{ port: 1 }] },
          });
        }
        return stdout.includes('service/outer');
      },
    );
    assert.doesNotMatch(text, /inner/);
    for (const name of ['inner', 'outer']) api.delete({ resource: 'services', namespace: 'shop', name });
  });

  test('api-resources, api-versions and explain know the resources', async () => {
    const rows = rowsOf(await kubectl.ok(['api-resources']));
    const slices = rows.find(({ NAME }) => NAME === 'endpointslices');
    assert.equal(slices?.APIVERSION, 'discovery.k8s.io/v1');
    assert.equal(rows.find(({ NAME }) => NAME === 'services')?.SHORTNAMES, 'svc');
    // Once more, now that kubectl has the answers cached.
    assert.deepEqual(rowsOf(await kubectl.ok(['api-resources'])), rows);
    assert.match(await kubectl.ok(['api-versions']), /^networking\.k8s\.io\/v1$/m);
    assert.match(await kubectl.ok(['explain', 'service.spec.ports']), /nodePort\s+<integer>/);
    assert.match(await kubectl.ok(['auth', 'whoami']), /kubernetes-admin/);
    assert.equal((await kubectl.ok(['auth', 'can-i', 'delete', 'services'])).trim(), 'yes');
  });

  test('says what is not there', async () => {
    assert.match(
      await kubectl.fails(['get', 'svc', 'nope', '-n', 'shop']),
      /Error from server \(NotFound\): services "nope" not found/,
    );
    assert.match(
      await kubectl.fails(['get', 'deployments']),
      /the server doesn't have a resource type "deployments"/,
    );
    assert.match(
      await kubectl.fails(['get', 'svc', '--field-selector', 'spec.nope=1']),
      /field label not supported: spec.nope/,
    );
    assert.match(await kubectl.fails(['logs', 'web-1', '-n', 'shop']), /runs no kubelet/);
    assert.match(await kubectl.fails(['exec', 'web-1', '-n', 'shop', '--', 'true']), /pointsman lab exec/);
  });
});
