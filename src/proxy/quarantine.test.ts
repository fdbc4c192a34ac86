import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LogFields, type Logger, silentLogger } from '../base/log.ts';
import { createQuarantine } from './quarantine.ts';

function recording(): { readonly log: Logger; readonly lines: [string, LogFields | undefined][] } {
  const lines: [string, LogFields | undefined][] = [];
  const note = (message: string, fields?: LogFields): void => {
    lines.push([message, fields]);
  };
  return { log: { ...silentLogger, warn: note, info: note }, lines };
}

test('a reason is said once, a new one again, and the end too', () => {
  const { log, lines } = recording();
  const quarantine = createQuarantine({ log, now: () => 5, clock: () => 0 });
  quarantine.hold('object', 'services a/b', 'x');
  quarantine.hold('object', 'services a/b', 'x');
  quarantine.hold('object', 'services a/b', 'y');
  quarantine.release('object', 'services a/b');
  quarantine.release('object', 'services a/b');
  assert.deepEqual(
    lines.map(([message, fields]) => [message.slice(0, 9), fields]),
    [
      ['Parts of ', { object: 'services a/b', reason: 'x' }],
      ['Parts of ', { object: 'services a/b', reason: 'y' }],
      ['An object', { object: 'services a/b' }],
    ],
  );
});

test('a flood is not said line by line', () => {
  const { log, lines } = recording();
  const quarantine = createQuarantine({ log, now: () => 0, clock: () => 0 });
  for (let index = 0; index < 3000; index++) quarantine.hold('entry', `10.0.0.1/TCP/${index}`, 'no');
  assert.equal(lines.length, 23);
  assert.deepEqual(quarantine.counts, { object: 0, entry: 3000 });
});

test('entries become due later each time, objects never', () => {
  let present = 0;
  const quarantine = createQuarantine({
    log: silentLogger,
    now: () => 7,
    clock: () => present,
    random: () => 1,
  });
  quarantine.hold('object', 'services a/b', 'x');
  assert.equal(quarantine.nextDueAt, undefined);
  quarantine.hold('entry', 'k', 'x');
  assert.equal(quarantine.nextDueAt, 1000);
  present = 1000;
  assert.deepEqual(quarantine.due(), ['k']);
  quarantine.hold('entry', 'k', 'x');
  assert.equal(quarantine.nextDueAt, 3000);
  assert.deepEqual(quarantine.due(), []);
  for (let index = 0; index < 20; index++) quarantine.hold('entry', 'k', 'x');
  assert.equal(quarantine.nextDueAt, 301_000);
  assert.deepEqual(quarantine.list()[1], { kind: 'entry', key: 'k', reason: 'x', since: 7, tries: 22 });
});
