import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { listNamespaces } from '../../src/lab/network/construction.ts';
import { processesOf, removeLeftovers } from '../../src/lab/network/leftovers.ts';
import { createTopology } from '../../src/lab/network/topology.ts';
import { sys, testPrefix } from './test-topology.ts';

/** A process that builds a lab and waits; resolves when the lab is there. */
async function labInAnotherProcess(prefix: string) {
  const program = `
    import { createKoffiSys } from './src/kernel/sys/koffi.ts';
    import { createTopology } from './src/lab/network/topology.ts';
    const topology = await createTopology({ sys: createKoffiSys(), prefix: process.argv[1], nodes: 1 });
    await topology.addPod({ node: 'node-a', name: 'default/web' });
    console.log('there');
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  assert.equal(line, 'there');
  return child;
}

test('what a killed lab left behind is found and removed, its processes too, but not what is of other labs', async () => {
  const [prefix, other] = [await testPrefix(), await testPrefix()];
  await using _neighbour = await createTopology({ sys, prefix: other, nodes: 1 });
  const lab = await labInAnotherProcess(prefix);
  const inPod = spawn(
    'ip',
    ['netns', 'exec', `${prefix}-default_web`, 'sh', '-c', 'echo in; exec sleep 1000'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  await once(inPod.stdout, 'data');
  lab.kill('SIGKILL');
  await once(lab, 'exit');

  assert.deepEqual(processesOf(prefix), [inPod.pid]);
  assert.deepEqual(processesOf(other), []);
  await assert.rejects(createTopology({ sys, prefix, nodes: 1 }), { code: 'E_LAB' });
  const ended = once(inPod, 'exit');
  inPod.kill('SIGKILL');
  await ended;
  const removed = await removeLeftovers(prefix);
  assert.deepEqual(
    [...removed].sort(),
    ['default_web', 'node-a', 'outside', 'switch'].map((part) => `${prefix}-${part}`),
  );
  assert.deepEqual(await removeLeftovers(prefix), []);
  assert.ok(listNamespaces().includes(`${other}-node-a`));
  await using _again = await createTopology({ sys, prefix, nodes: 1 });
});
