import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LabState } from './lab-state.ts';
import { endProcesses, identify, isRunning, parseStat, waitForEnd } from './process-identity.ts';
import { claimFolder, labNames, readState, removeFolder, stateFolder, writeState } from './state-folder.ts';

function stage() {
  const made = mkdtempDisposableSync(join(tmpdir(), `pt-${process.pid}-`));
  const folder = stateFolder('a', made.path);
  return { root: made.path, folder, [Symbol.dispose]: () => made[Symbol.dispose]() };
}
const state: LabState = {
  version: 1,
  name: 'a',
  phase: 'starting',
  process: { pid: process.pid, startedAt: 1 },
  startedAt: '2026-12-01T00:00:00.000Z',
  server: 'https://127.0.0.1:6443',
  kubeconfig: '/x',
  nodes: [
    {
      name: 'node-a',
      zone: 'zone-a',
      namespace: 'a-node-a',
      addresses: ['192.0.2.11'],
      pointsman: { process: null, log: '/y', healthz: { address: '192.0.2.11', port: 10256 } },
    },
  ],
};

test('a folder can be claimed once, is there with its state, and can be claimed again after its removal', () => {
  using at = stage();
  assert.equal(readState(at.folder), undefined);
  assert.equal(claimFolder(at.folder, state), true);
  assert.deepEqual(readState(at.folder), state);
  assert.equal(claimFolder(at.folder, { ...state, name: 'other' }), false);
  assert.deepEqual(readState(at.folder), state);
  assert.deepEqual(labNames(at.root), ['a']);
  writeState(at.folder, { ...state, phase: 'ready' });
  assert.equal(readState(at.folder)?.phase, 'ready');
  removeFolder(at.folder);
  assert.equal(readState(at.folder), undefined);
  assert.equal(claimFolder(at.folder, state), true);
});

for (const [what, text] of [
  ['no JSON', '{'],
  ['of another version', JSON.stringify({ ...state, version: 2 })],
  ['incomplete', JSON.stringify({ ...state, nodes: [{ name: 'node-a' }] })],
])
  test(`a state that is ${what} is refused with the field and what to do`, () => {
    using at = stage();
    claimFolder(at.folder, state);
    writeFileSync(join(at.folder.path, 'state.json'), text ?? '');
    assert.throws(() => readState(at.folder), { code: 'E_LAB' });
  });

test('the start time is found behind any command name', () => {
  const rest = Array.from({ length: 18 }, (_, index) => index).join(' ');
  assert.deepEqual(parseStat(`7 (a) S 1 (b)) R ${rest} 4711 0`), { state: 'R', startedAt: 4711 });
  assert.equal(parseStat('nothing'), undefined);
});

async function running(
  ...command: readonly [string, ...string[]]
): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child, 'spawn');
  return child as ChildProcess & { readonly pid: number };
}

test('a process is known by its id and start time, and is not once it has ended', async () => {
  const child = await running('sleep', '1000');
  const identity = identify(child.pid);
  assert.ok(identity !== undefined && isRunning(identity));
  assert.equal(isRunning({ ...identity, startedAt: identity.startedAt - 1 }), false);
  assert.equal(await waitForEnd(identity, 0), false);
  const gone = once(child, 'exit');
  await endProcesses([identity], 5000);
  assert.deepEqual(await gone, [null, 'SIGTERM']);
  assert.equal(isRunning(identity), false);
});

test('a process that does not want to end is made to', async () => {
  const child = await running('sh', '-c', 'trap "" TERM; echo ready; exec sleep 1000');
  if (child.stdout) await once(child.stdout, 'data');
  const identity = identify(child.pid);
  assert.ok(identity !== undefined);
  const gone = once(child, 'exit');
  await endProcesses([identity], 20);
  assert.deepEqual(await gone, [null, 'SIGKILL']);
});
