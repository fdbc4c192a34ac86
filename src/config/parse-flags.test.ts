import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { DEFAULT_VALUES, type FlagValues } from './flag-values.ts';
import { parseFlags } from './parse-flags.ts';

function valuesOf(...args: readonly string[]): FlagValues {
  const request = parseFlags(args);
  assert.equal(request.kind, 'run');
  return request.kind === 'run' ? request.values : DEFAULT_VALUES;
}
const refusalOf = (...args: readonly string[]): string => {
  try {
    parseFlags(args);
  } catch (error) {
    assert.ok(error instanceof PointsmanError && error.code === 'E_USAGE');
    return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  }
  return 'accepted';
};

test('without flags the defaults hold', () => {
  assert.deepEqual(valuesOf(), DEFAULT_VALUES);
});

test('a value stands behind an equals sign or in the next argument', () => {
  assert.equal(valuesOf('--kubeconfig=/a=b').kubeconfig, '/a=b');
  assert.equal(valuesOf('--kubeconfig', '/a').kubeconfig, '/a');
  assert.equal(valuesOf('--kubeconfig', '--v').kubeconfig, '--v');
  assert.equal(valuesOf('--kubeconfig=').kubeconfig, '');
});

test('underscores and dashes are the same in names', () => {
  assert.equal(valuesOf('--cluster_cidr=10.0.0.0/8').clusterCidr, '10.0.0.0/8');
});

test('a boolean needs no value, and takes one only behind an equals sign', () => {
  assert.equal(valuesOf('--masquerade-all').masqueradeAll, true);
  assert.equal(valuesOf('--masquerade-all=false').masqueradeAll, false);
  assert.match(refusalOf('--masquerade-all', 'false'), /unexpected argument "false"/);
  assert.match(refusalOf('--masquerade-all=yes'), /invalid argument "yes" for --masquerade-all: is neither/);
});

test('the verbosity can be written in every usual way', () => {
  for (const args of [['-v', '4'], ['-v=4'], ['-v4'], ['--v=4'], ['--v', '4']])
    assert.equal(valuesOf(...args).verbosity, 4, args.join(' '));
});

test('the last of a repeated flag counts', () => {
  assert.equal(valuesOf('--v=1', '--v=3').verbosity, 3);
});

test('an empty bind address leaves the default', () => {
  assert.equal(valuesOf('--healthz-bind-address=').healthzBindAddress, '0.0.0.0:10256');
  assert.equal(valuesOf('--metrics-bind-address', '').metricsBindAddress, '127.0.0.1:10249');
});

test('kinds of values are checked one by one', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['--oom-score-adj=many', /invalid argument "many" for --oom-score-adj: is no whole number/],
    ['--oom-score-adj=3000000000', /out of range/],
    ['--kube-api-qps=fast', /is no number/],
    ['--iptables-sync-period=30', /is no duration/],
    ['--healthz-bind-address=host:1', /no IP address before the port/],
    ['--healthz-bind-address=1.2.3.4:0', /no port from 1 to 65535/],
    ['--healthz-bind-address=host', /neither IP nor IP:port/],
    ['--metrics-bind-address=::1:1', /accepted/],
    ['--metrics-bind-address=[::1]:10249', /accepted/],
    ['--bind-address=host', /is no IP address/],
    ['--feature-gates=A', /missing bool value for A/],
    ['--feature-gates=A=maybe', /neither true nor false/],
    ['--log-text-info-buffer-size=1 GB', /is no quantity/],
    ['--vmodule=kube', /not of the form pattern=N/],
    ['--vmodule=kube*=4,sync=2', /accepted/],
  ];
  for (const [arg, expected] of table) assert.match(refusalOf(arg), expected, arg);
});

test('an unknown flag is refused, with the nearest known one', () => {
  assert.match(refusalOf('--kubconfig=x'), /^unknown flag: --kubconfig \(did you mean --kubeconfig\?/);
  assert.match(refusalOf('--frobnicate'), /^unknown flag: --frobnicate \(see pointsman --help\)$/);
  assert.match(refusalOf('-x'), /^unknown shorthand flag: "x" in -x/);
});

test('a flag that needs a value does not go without', () => {
  assert.match(refusalOf('--kubeconfig'), /^flag needs an argument: --kubeconfig/);
  assert.match(refusalOf('-v'), /^flag needs an argument: -v/);
});

test('positional arguments are refused', () => {
  assert.match(refusalOf('--v=2', 'lab'), /^unexpected argument "lab" \(the proxy takes flags only/);
  assert.match(refusalOf('--', 'x'), /^unexpected argument "x"/);
  assert.equal(refusalOf('--v=2', '--'), 'accepted');
});

test('help and version come before everything that is well-formed', () => {
  assert.deepEqual(parseFlags(['--v=2', '--help']), { kind: 'help' });
  assert.deepEqual(parseFlags(['-h']), { kind: 'help' });
  assert.deepEqual(parseFlags(['--version']), { kind: 'version', raw: false });
  assert.deepEqual(parseFlags(['--version=raw']), { kind: 'version', raw: true });
  assert.equal(parseFlags(['--version=false']).kind, 'run');
  assert.match(refusalOf('--version=v1'), /invalid argument "v1" for --version/);
});
