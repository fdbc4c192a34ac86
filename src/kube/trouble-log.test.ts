import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createTroubleLog } from './trouble-log.ts';

function withLines() {
  const lines: string[] = [];
  let time = 0;
  const troubles = createTroubleLog({
    log: {
      ...silentLogger,
      warn: (message, fields) => lines.push(`warn ${message} ${JSON.stringify(fields ?? {})}`),
      info: (message, fields) => lines.push(`info ${message} ${JSON.stringify(fields ?? {})}`),
    },
    now: () => time,
    remindAfter: 1000,
  });
  return {
    lines,
    troubles,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

test('lasting trouble is said once, then reminded of with a count, then said to be over', () => {
  const { lines, troubles, pass } = withLines();
  for (let index = 0; index < 50; index += 1) {
    troubles.trouble('down', 'it is down');
    pass(50);
  }
  troubles.over('it is up');
  troubles.over('it is up');
  assert.deepEqual(lines, [
    'warn it is down {}',
    'warn it is down {"timesSince":19}',
    'warn it is down {"timesSince":19}',
    'info it is up {"afterSeconds":2.5}',
  ]);
});

test('another kind of trouble is said at once', () => {
  const { lines, troubles } = withLines();
  troubles.trouble('down', 'it is down');
  troubles.trouble('denied', 'it is denied');
  troubles.trouble('down', 'it is down');
  assert.equal(lines.length, 2);
});

test('trouble that comes and goes is said five times in the time of a reminder, then only counted', () => {
  const { lines, troubles, pass } = withLines();
  for (let index = 0; index < 9; index += 1) {
    troubles.trouble('flap', 'it flaps');
    troubles.over('it holds');
  }
  assert.equal(lines.filter((line) => line.startsWith('warn')).length, 5);
  assert.equal(lines.filter((line) => line.startsWith('info')).length, 5);
  pass(1001);
  troubles.trouble('flap', 'it flaps');
  assert.equal(lines.at(-1), 'warn it flaps {"timesSince":4}');
});
