// The lab's commands with labs in the background, real processes and real namespaces.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sleep } from '../../src/base/backoff.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { labDown } from '../../src/lab/commands/lab-down.ts';
import { labExec, labKubectl } from '../../src/lab/commands/lab-exec.ts';
import { labStatus } from '../../src/lab/commands/lab-status.ts';
import { labUp } from '../../src/lab/commands/lab-up.ts';
import { createLab } from '../../src/lab/lab.ts';
import { listNamespaces } from '../../src/lab/network/construction.ts';
import { namespacesOf } from '../../src/lab/network/names.ts';
import { createTopology } from '../../src/lab/network/topology.ts';
import type { ProcessIdentity } from '../../src/lab/state/process-identity.ts';
import { isRunning, signalProcess, waitForEnd } from '../../src/lab/state/process-identity.ts';
import { readState, stateFolder } from '../../src/lab/state/state-folder.ts';
import { testIo, testLabName } from './test-lab.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const HELLO = new URL('../../examples/hello.yaml', import.meta.url).pathname;
/** Stands for a Pointsman where a test is about processes only: it runs and is never healthy. */
const IDLE = ['sh', '-c', 'echo idle; exec sleep 1000', 'idle'];

const namespacesLeft = (name: string): readonly string[] => namespacesOf(name, listNamespaces());

/** Every process of the lab, by its state. */
function processesOf(name: string): readonly ProcessIdentity[] {
  const state = readState(stateFolder(name));
  if (state === undefined) return [];
  return [state.process, ...state.nodes.flatMap(({ pointsman }) => pointsman?.process ?? [])];
}

test('up, kubectl, exec, status and down: a lab in the background with a Pointsman per node', async () => {
  await using at = await testLabName();
  const { name } = at;
  const up = testIo();
  assert.equal(await labUp({ name, manifests: [HELLO] }, up), 0);
  assert.match(
    up.lines[0] ?? '',
    new RegExp(`^Lab ${name} is up after [\\d.]+ s: node-a, node-b, API server https://`),
  );
  assert.ok(up.lines.includes(`  export KUBECONFIG=/run/pointsman-lab/${name}/kubeconfig`));
  // Where the checkout lies is not the lab's to choose: its paths do not count.
  const counted = up.lines.map((line) => line.replaceAll(CHECKOUT, '.'));
  assert.deepEqual(
    counted.filter((line) => line.length > 100),
    [],
  );

  const wait = testIo();
  const ready = ['wait', 'pod', '-n', 'hello', '--all', '--for=condition=Ready'];
  assert.equal(await labKubectl({ name, args: ready }, wait), 0, wait.complaints.join('\n'));
  const refusal = testIo();
  assert.equal(await labKubectl({ name, args: ['get', 'pod', 'nobody'] }, refusal), 1);
  assert.deepEqual(refusal.complaints, ['Error from server (NotFound): pods "nobody" not found']);

  const exec = testIo();
  assert.equal(
    await labExec({ name, part: 'echo-1', command: ['ip', '-br', 'address', 'show', 'eth0'] }, exec),
    0,
  );
  assert.match(exec.lines.join('\n'), /10\.244\.1\.2\/32 fd00:244:1::2\/128/);
  assert.equal(await labExec({ name, part: 'outside', command: ['sh', '-c', 'exit 7'] }, testIo()), 7);
  assert.equal(
    await labExec({ name, part: 'node-b', command: ['sh', '-c', 'kill -TERM $$'] }, testIo()),
    143,
  );
  await assert.rejects(labExec({ name, part: 'nobody', command: ['true'] }, testIo()), {
    code: 'E_LAB',
    message: 'the lab has nothing called nobody',
  });

  const status = testIo();
  assert.equal(await labStatus({ name }, status), 0, status.lines.join('\n'));
  assert.match(
    status.lines.join('\n'),
    /node-a +zone-a +192\.0\.2\.11 2001:db8::11 +2 +healthy, process \d+/,
  );
  const json = testIo();
  await labStatus({ name, output: 'json' }, json);
  const { labs } = JSON.parse(json.lines.join('\n'));
  assert.deepEqual(
    labs.map((lab: { name: string; phase: string }) => [lab.name, lab.phase]),
    [[name, 'ready']],
  );

  await assert.rejects(labUp({ name }, testIo()), {
    code: 'E_LAB',
    message: new RegExp(`${name} is up already`),
  });

  const processes = processesOf(name);
  assert.equal(processes.length, 3);
  const down = testIo();
  assert.equal(await labDown({ name }, down), 0);
  assert.deepEqual(down.lines, [`Lab ${name} is down.`]);
  assert.deepEqual(processes.filter(isRunning), []);
  assert.deepEqual(namespacesLeft(name), []);
  assert.equal(existsSync(stateFolder(name).path), false);
  assert.equal(await labDown({ name }, down), 0);
  assert.equal(down.lines[1], `No lab ${name} is up.`);
  assert.equal(await labStatus({ name }, testIo()), 1);
  await assert.rejects(labExec({ name, part: 'node-a', command: ['true'] }, testIo()), { code: 'E_LAB' });
});

test('what a crashed lab leaves is seen by status, and removed by down and by the next up', async () => {
  await using at = await testLabName();
  const { name } = at;
  const crash = async () => {
    const [lab, ...pointsmans] = processesOf(name);
    assert.ok(lab !== undefined && pointsmans.length === 2);
    signalProcess(lab, 'SIGKILL');
    assert.equal(await waitForEnd(lab, 5000), true);
    assert.equal(pointsmans.filter(isRunning).length, 2, 'the Pointsmans of a crashed lab live on');
    return pointsmans;
  };
  await labUp({ name }, testIo());
  const first = await crash();
  const status = testIo();
  assert.equal(await labStatus({ name }, status), 3);
  assert.match(status.lines[0] ?? '', /crashed; `pointsman lab down --name .*` removes what is left/);
  await assert.rejects(labExec({ name, part: 'node-a', command: ['true'] }, testIo()), {
    code: 'E_LAB',
    message: /has crashed/,
  });

  await labUp({ name }, testIo());
  assert.deepEqual(first.filter(isRunning), []);
  assert.equal(await labStatus({ name }, testIo()), 0);

  const second = await crash();
  const down = testIo();
  assert.equal(await labDown({ name }, down), 0);
  assert.match(down.lines[0] ?? '', /had crashed; removed its 2 processes, 4 namespaces and folder/);
  assert.deepEqual(second.filter(isRunning), []);
  assert.deepEqual(namespacesLeft(name), []);
});

test('namespaces that are left without any folder are removed by the next up', async () => {
  await using at = await testLabName();
  const { name } = at;
  await createTopology({ sys: createKoffiSys(), prefix: name, nodes: 1 });
  assert.equal(namespacesLeft(name).length, 3);
  await using again = await createLab({ name, pointsman: false, nodes: 2 });
  assert.equal(again.nodes.length, 2);
});

test('a lab whose Pointsman ends at once says so with its last words, and leaves nothing but its log', async () => {
  await using at = await testLabName();
  const { name } = at;
  const program = ['sh', '-c', 'echo no rules today; exit 3', 'broken'];
  await assert.rejects(labUp({ name, pointsman: { program } }, testIo()), {
    code: 'E_LAB',
    message: /the Pointsman of node-[ab] is not healthy: it has ended \(3\): no rules today/,
  });
  assert.deepEqual(namespacesLeft(name), []);
  assert.equal(existsSync(stateFolder(name).path), false);
  assert.match(
    readFileSync(stateFolder(name).log, 'utf8'),
    /a Pointsman has ended by itself node="node-[ab]" ending=3/,
  );
});

test('giving up while the lab starts ends it and leaves nothing', async () => {
  await using at = await testLabName();
  const { name } = at;
  const giveUp = new AbortController();
  const folder = stateFolder(name);
  const starting = labUp({ name, pointsman: { program: IDLE } }, { ...testIo(), signal: giveUp.signal });
  const refused = assert.rejects(starting, { code: 'E_LAB' });
  while (processesOf(name).length < 3) await sleep(20);
  const processes = processesOf(name);
  giveUp.abort();
  await refused;
  assert.deepEqual(processes.filter(isRunning), []);
  assert.deepEqual(namespacesLeft(name), []);
  assert.equal(existsSync(folder.path), false);
});

test('a name that cannot be, and an exec without a command, are refused', async () => {
  await assert.rejects(labUp({ name: 'No/Name' }, testIo()), { code: 'E_LAB' });
  await using at = await testLabName();
  await using _ = await createLab({ name: at.name, pointsman: false, nodes: 1 });
  await assert.rejects(labExec({ name: at.name, part: 'outside', command: [] }, testIo()), {
    code: 'E_USAGE',
  });
  await assert.rejects(createLab({ name: at.name, pointsman: false }), {
    code: 'E_LAB',
    message: /is up already/,
  });
});
