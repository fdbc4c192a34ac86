// The rights of the ServiceAccount: what the program asks the API server for, and no more than kube-proxy has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ENDPOINT_SLICES, ownNode, SERVICE_CIDRS, SERVICES } from '../../src/kube/resources.ts';
import { at, only, podOf, ROOT, render } from './chart.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const manifests = render('--set', 'apiServer=https://10.0.0.10:6443');
const rules = only(manifests, 'ClusterRole').rules as readonly Rule[];
const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
  ),
);

test('the role grants what kube-proxy may, and nothing else', () => {
  assert.deepEqual(
    granted,
    // Behaviour spec 2; events of the newer group only, in which they are written.
    [
      ...['list', 'watch'].map((verb) => `${verb} /services`),
      ...['list', 'watch'].map((verb) => `${verb} discovery.k8s.io/endpointslices`),
      ...['list', 'watch'].map((verb) => `${verb} networking.k8s.io/servicecidrs`),
      ...['get', 'list', 'watch'].map((verb) => `${verb} /nodes`),
      ...['create', 'patch', 'update'].map((verb) => `${verb} events.k8s.io/events`),
    ],
  );
  for (const rule of rules) assert.deepEqual(Object.keys(rule).sort(), ['apiGroups', 'resources', 'verbs']);
});

test('the role grants all that the program watches and writes', () => {
  for (const { path } of [SERVICES, ENDPOINT_SLICES, SERVICE_CIDRS, ownNode('node-a')]) {
    const [, group = '', resource] = /^\/apis?(?:\/([^/]+))?\/v1\/(\w+)$/.exec(path) ?? [];
    for (const verb of ['list', 'watch']) assert.ok(granted.includes(`${verb} ${group}/${resource}`), path);
  }
  const source = readFileSync(`${ROOT}src/kube/events.ts`, 'utf8');
  assert.deepEqual(
    [...source.matchAll(/\/apis\/([\w.]+)\/v1\/namespaces/g)].map((match) => match[1]),
    ['events.k8s.io'],
  );
});

test('the account of the Pods has the role', () => {
  const account = podOf(manifests).serviceAccountName;
  assert.equal(only(manifests, 'ServiceAccount').metadata.name, account);
  const binding = only(manifests, 'ClusterRoleBinding');
  assert.deepEqual(binding.subjects, [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }]);
  assert.equal(at(binding, 'roleRef', 'name'), only(manifests, 'ClusterRole').metadata.name);
});
