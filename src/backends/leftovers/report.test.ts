// The lines of a clean-up and the exit code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../../base/errors.ts';
import { counted, describeCleanup } from './report.ts';

test('what was removed and left is told a line each, and ends well', () => {
  const { lines, exitCode } = describeCleanup({
    removed: ['device kube-ipvs0'],
    left: [{ what: 'set KUBE-CLUSTER-IP', because: 'a rule still uses it' }],
    failures: [],
  });
  assert.deepEqual(lines, ['removed device kube-ipvs0', 'left set KUBE-CLUSTER-IP: a rule still uses it']);
  assert.equal(exitCode, 0);
});

test("a failure ends with kube-proxy's own phrase and 1", () => {
  const error = new PointsmanError('E_NETLINK', 'the kernel refused it', { hint: 'try again' });
  const { lines, exitCode } = describeCleanup({
    removed: [],
    left: [],
    failures: [{ what: 'remove the device kube-ipvs0', error }],
  });
  assert.deepEqual(lines, [
    'cannot remove the device kube-ipvs0: the kernel refused it (try again)',
    'encountered an error while tearing down rules',
  ]);
  assert.equal(exitCode, 1);
});

test('a clean node is told to be clean', () => {
  const { lines, exitCode } = describeCleanup({ removed: [], left: [], failures: [] });
  assert.deepEqual([lines, exitCode], [['nothing was left of a kube-proxy'], 0]);
});

test('one thing is not called several', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'chain')),
    ['0 chains', '1 chain', '2 chains'],
  );
});
