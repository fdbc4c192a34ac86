// Labs with a Pointsman per node: from kubectl to an answering Pod, and through the end and the return of a Pointsman.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createBackoff, sleep } from '../../src/base/backoff.ts';
import type { Service } from '../../src/lab/api/resources/service/types.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { tally } from '../../src/lab/pods/answer.ts';
import { until } from '../../src/lab/until.ts';
import { readyPods, testLab } from './test-lab.ts';

const HELLO = readFileSync(new URL('../../examples/hello.yaml', import.meta.url), 'utf8');
const PODS = ['echo-1', 'echo-2', 'echo-3', 'echo-4'].map((name) => `hello/${name}`);

/** The addresses of the example's Service, once its Pods are ready. */
async function helloService(lab: Lab): Promise<readonly string[]> {
  await lab.apply(HELLO);
  await readyPods(lab, 'hello', PODS.length);
  const [service] = await until<Service>(lab.api, 'services', 'the Service', (all) => all.length > 0, {
    namespace: 'hello',
  });
  return service?.spec.clusterIPs ?? [];
}

/** Asks until exactly these Pods answer and no request fails: a Pointsman hears of a change a moment after us. */
async function answeredBy(lab: Lab, from: string, address: string, pods: readonly string[]): Promise<void> {
  const question = { namespace: lab.namespaceOf(from), protocol: 'TCP', address, port: 80 } as const;
  const backoff = createBackoff({ firstMs: 20, maxMs: 200 });
  const until = performance.now() + 20_000;
  for (;;) {
    const { pods: seen, failures } = tally(await lab.client.askTimes(60, question));
    const names = [...seen.keys()].sort();
    if (failures.size === 0 && isDeepStrictEqual(names, pods)) return;
    if (performance.now() > until)
      assert.deepEqual({ names, failures }, { names: pods, failures: new Map() }, `${from} to ${address}`);
    await sleep(backoff.next());
  }
}

test('a Service that kubectl applies answers from a Pod, a node and outside, in both families', async () => {
  await using lab = await testLab({});
  const addresses = await helloService(lab);
  assert.equal(addresses.length, 2);
  for (const from of ['hello/echo-1', 'node-a', 'node-b', 'outside'])
    for (const address of addresses) await answeredBy(lab, from, address, PODS);
});

test('a Service answers on while its node has no Pointsman, and follows the cluster again when there is one', async () => {
  await using lab = await testLab({});
  const [address = ''] = await helloService(lab);
  await answeredBy(lab, 'node-a', address, PODS);
  const { identity } = lab.pointsmans.of('node-a');
  await lab.killPointsman('node-a', 'SIGKILL');
  assert.equal(lab.pointsmans.of('node-a').identity, undefined);
  await answeredBy(lab, 'node-a', address, PODS);

  await lab.restartPointsman('node-a');
  assert.notDeepEqual(lab.pointsmans.of('node-a').identity, identity);
  await lab.kubectl(['delete', 'pod', '-n', 'hello', 'echo-1', '--now']);
  await answeredBy(lab, 'node-a', address, PODS.slice(1));
});

test('nodes may differ in their flags, or be without a Pointsman', async () => {
  await using lab = await testLab({
    pointsman: { flags: ['--v=2'], perNode: { 'node-a': ['--masquerade-all'], 'node-b': false } },
  });
  assert.deepEqual(
    lab.pointsmans.all.map(({ node }) => node),
    ['node-a'],
  );
  const { flags } = lab.pointsmans.of('node-a');
  assert.deepEqual(flags.slice(-2), ['--v=2', '--masquerade-all']);
  assert.throws(() => lab.pointsmans.of('node-b'), { code: 'E_LAB', hint: 'there are node-a' });
});
