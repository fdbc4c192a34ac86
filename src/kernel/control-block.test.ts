import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createControlBlock } from './control-block.ts';

test('both sides of the memory see the same counters and backlog', () => {
  const main = createControlBlock();
  const thread = createControlBlock(main.memory);
  thread.count('transactions');
  thread.count('bytes', 5_000_000_000);
  assert.deepEqual(main.counters(), {
    transactions: 1,
    messages: 0,
    bytes: 5_000_000_000,
    dumps: 0,
    requests: 0,
    events: 0,
    overflows: 0,
  });
  assert.equal(thread.changeBacklog(2), 2);
  assert.equal(main.changeBacklog(-1), 1);
  main.clearBacklog();
  assert.equal(thread.backlog, 0);
});

test('descriptors are handed over once, without those that were closed', () => {
  const main = createControlBlock();
  const thread = createControlBlock(main.memory);
  for (const fd of [0, 20, 21]) assert.equal(thread.note(fd), true);
  thread.forget(20);
  thread.forget(99);
  assert.deepEqual([...main.takeDescriptors()].sort(), [0, 21]);
  assert.deepEqual(main.takeDescriptors(), []);
});

test('a full book of descriptors says so, and has room again when one is closed', () => {
  const control = createControlBlock();
  let fd = 3;
  while (control.note(fd)) fd += 1;
  control.forget(3);
  assert.equal(control.note(fd), true);
  assert.equal(control.note(fd + 1), false);
});
