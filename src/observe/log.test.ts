import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createLog, type LogOptions } from './log.ts';

const at = new Date(2026, 0, 2, 15, 4, 5, 67);

function written(options: Partial<LogOptions>, use: (log: Logger) => void, room = 'sync'): readonly string[] {
  const lines: string[] = [];
  const log = createLog({
    format: 'text',
    verbosity: 0,
    pid: 42,
    now: () => at,
    write: (line) => {
      lines.push(line);
    },
    ...options,
  });
  use(log.room(room));
  return lines;
}

test("text lines are klog's, with the room in place of the file", () => {
  const lines = written({}, (log) => {
    log.info('Synced', { services: 3, full: true, node: 'a "b"', none: undefined, list: ['x'] });
    log.warn('Careful');
  });
  assert.deepEqual(lines, [
    'I0102 15:04:05.067000      42 sync] "Synced" services=3 full=true node="a \\"b\\"" list=["x"]\n',
    'W0102 15:04:05.067000      42 sync] "Careful"\n',
  ]);
});

test('an event is one line, whatever it carries', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const use = (log: Logger): void => {
    log.info('two\nlines', { text: 'three\nmore\nlines', circle, big: 3n });
    log.error(new Error('a bug'), 'Failed');
  };
  for (const format of ['text', 'json'] as const)
    for (const line of written({ format }, use)) assert.match(line, /^[^\n]+\n$/);
});

test('verbosity decides what is said, by room where a pattern matches', () => {
  const use = (log: Logger): void => {
    log.debug(2, 'two');
    log.debug(4, 'four');
  };
  const vmodule = [
    { pattern: 'kube*', verbosity: 4 },
    { pattern: 'syn?', verbosity: 0 },
  ];
  assert.equal(written({ verbosity: 1 }, use).length, 0);
  assert.equal(written({ verbosity: 2 }, use).length, 1);
  assert.equal(written({ verbosity: 2, vmodule }, use, 'kube-services').length, 2);
  assert.equal(written({ verbosity: 2, vmodule }, use, 'sync').length, 0);
  assert.equal(written({ verbosity: 2, vmodule }, use, 'health').length, 1);
});

test("JSON lines carry upstream's keys", () => {
  const [info, warning, error] = written({ format: 'json', verbosity: 2 }, (log) => {
    log.debug(2, 'Syncing', { fullSync: true });
    log.warn('Careful');
    log.error(new Error('no'), 'Failed', { tries: 2 });
  }).map((line) => JSON.parse(line));
  assert.deepEqual(info, {
    severity: 'info',
    ts: at.getTime(),
    caller: 'sync',
    v: 2,
    fullSync: true,
    msg: 'Syncing',
  });
  assert.equal(warning.severity, 'warning');
  assert.deepEqual([error.severity, error.err, error.tries, error.msg], ['error', 'no', 2, 'Failed']);
  assert.equal('v' in error, false);
});

test('an error tells its hint, facts and cause; a bug tells where it is', () => {
  const cause = new Error('ENOENT');
  const [line, bug] = written({}, (log) => {
    log.error(
      new PointsmanError('E_KUBECONFIG', 'kubeconfig /a: no such file', {
        hint: 'make one',
        facts: { file: '/a' },
        cause,
      }),
      'Stopped',
    );
    log.error(new TypeError('x is undefined'), 'Stopped');
  });
  assert.match(
    line ?? '',
    /"Stopped" err="kubeconfig \/a: no such file \(make one\)" code="E_KUBECONFIG" file="\/a" cause="ENOENT"/,
  );
  assert.match(bug ?? '', /err="x is undefined" stack="TypeError: x is undefined\\n/);
});
