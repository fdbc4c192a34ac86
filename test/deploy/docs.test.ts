// What the documents tell people to type.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { at, CHART, configFiles, containerOf, manifestsOf, podOf, ROOT, template, yaml } from './chart.ts';

const DOCUMENTS = [
  'docs/migrate.md',
  'deploy/README.md',
  'deploy/chart/pointsman/README.md',
  'deploy/manifests/README.md',
];
const textOf = (document: string): string => readFileSync(join(ROOT, document), 'utf8');

/** The commands of a document's code blocks, continued lines joined. */
const commandsOf = (document: string): string =>
  [...textOf(document).matchAll(/^ *```\n([\s\S]*?)^ *```$/gm)]
    .map((match) => match[1])
    .join('')
    .replaceAll(/\\\n\s*/g, '');

for (const document of DOCUMENTS)
  test(`the links of ${document} lead somewhere`, () => {
    const links = [...textOf(document).matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '');
    assert.deepEqual(
      links.filter((link) => !existsSync(join(ROOT, dirname(document), link))),
      [],
    );
  });

test('the chart takes the values that the documents set', () => {
  const commands = DOCUMENTS.flatMap(
    (document) => commandsOf(document).match(/helm (install|upgrade) .*/g) ?? [],
  );
  assert.equal(commands.length, 3);
  for (const command of commands) {
    const sets = [...command.matchAll(/--set (\S+)/g)].map((match) => match[1] ?? '');
    assert.ok(sets.length > 0, command);
    const { status, err } = template('--set', ['apiServer=https://a:1', ...sets].join(','));
    assert.equal(status, 0, `${command}\n${err}`);
  }
});

test('kube-proxy is kept off the nodes that Pointsman is put on', () => {
  const commands = commandsOf('docs/migrate.md');
  const patch = yaml(/--patch '([^']*)'/.exec(commands)?.[1] ?? '');
  const { status, out } = template('--set', 'apiServer=https://a:1,nodeSelector.service-proxy=pointsman');
  assert.equal(status, 0);
  const selector = podOf(manifestsOf(out)).nodeSelector as Readonly<Record<string, string>>;
  const terms = at(patch, 'spec', 'template', 'spec', 'affinity', 'nodeAffinity') as object;
  assert.deepEqual(at(terms, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'), [
    { matchExpressions: [{ key: 'service-proxy', operator: 'NotIn', values: [selector['service-proxy']] }] },
  ]);
});

test('what the manifests must be told can be put in as their README says', () => {
  const script =
    /sed .*deploy\/manifests\/pointsman\.yaml/.exec(commandsOf('deploy/manifests/README.md'))?.[0] ?? '';
  const manifests = manifestsOf(execFileSync('sh', ['-c', script], { cwd: ROOT, encoding: 'utf8' }));
  for (const name of ['init', 'pointsman'] as const)
    assert.match(String(containerOf(manifests, name).image), /^registry\.example\/pointsman:/);
  const { config, kubeconfig } = configFiles(manifests);
  assert.equal(at(yaml(config), 'clusterCIDR'), '10.244.0.0/16');
  assert.equal(at(yaml(config), 'mode'), 'nftables');
  assert.equal(at(yaml(kubeconfig), 'clusters', 0, 'cluster', 'server'), 'https://10.0.0.10:6443');
});

test('the Pod that cleans up is put on the node that is named', () => {
  const script = /sed .*kube-proxy-cleanup\.yaml/.exec(commandsOf('docs/migrate.md'))?.[0] ?? '';
  const [pod] = manifestsOf(execFileSync('sh', ['-c', script], { cwd: ROOT, encoding: 'utf8' }));
  assert.equal(at(pod, 'spec', 'nodeName'), 'node-1');
});

test('the values that are made of a kubeadm cluster are values of the chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-migrate-'));
  try {
    const kubeadm = at(yaml(readFileSync(`${CHART}/ci/kubeadm-values.yaml`, 'utf8')), 'config') as object;
    writeFileSync(join(folder, 'config.conf'), stringify({ ...kubeadm, mode: 'iptables' }));
    const script = /\(echo config:.*values\.yaml/.exec(commandsOf('docs/migrate.md'))?.[0] ?? 'false';
    execFileSync('sh', ['-ec', `kubectl() { cat config.conf; }\n${script}`], { cwd: folder });
    const { status, out, err } = template(
      '--values',
      `${folder}/values.yaml`,
      '--set',
      'apiServer=https://a:1',
    );
    assert.equal(status, 0, err);
    const config = yaml(configFiles(manifestsOf(out)).config);
    assert.deepEqual(config, { ...kubeadm, mode: 'nftables' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
