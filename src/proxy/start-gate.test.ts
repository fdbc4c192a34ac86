import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../base/log.ts';
import { DEFAULT_VALUES, type FlagValues } from '../config/flag-values.ts';
import { configurationOf } from '../config/from-flags.ts';
import { NO_OWN } from '../config/no-own.ts';
import { proxyConfig } from '../config/proxy-config.ts';
import { parseCidr } from '../model/address.ts';
import type { Node } from '../model/node.ts';
import { type StartGateOptions, waitForStart } from './start-gate.ts';

const NODE: Node = {
  name: 'n1',
  uid: '',
  addresses: ['192.0.2.11'],
  podCidrs: [],
  zone: '',
  deleting: false,
  taints: [],
};
const WITH_CIDR: Node = { ...NODE, podCidrs: ['10.50.1.0/24'].flatMap((text) => parseCidr(text) ?? []) };

/** Time passes with sleeping only; `at` tells what the Node is then, in ms. */
function gate(
  values: Partial<FlagValues>,
  at: (time: number) => Node | undefined,
  more: Partial<StartGateOptions> = {},
): { readonly started: Promise<boolean>; readonly time: () => number; readonly lines: readonly string[] } {
  let time = 0;
  const lines: string[] = [];
  const note = (message: string): void => {
    lines.push(message);
  };
  const log: Logger = { ...silentLogger, info: note, warn: note };
  const started = waitForStart({
    config: proxyConfig(
      configurationOf({ ...DEFAULT_VALUES, hostnameOverride: 'n1', clusterCidr: '10.0.0.0/8', ...values }),
      { hostname: 'n1', master: '', own: NO_OWN },
    ),
    families: ['IPv4'],
    listed: Promise.resolve(),
    settingsListed: Promise.resolve(),
    node: () => at(time),
    log,
    signal: new AbortController().signal,
    clock: () => time,
    async sleep(ms, signal) {
      await Promise.resolve();
      if (!signal.aborted) time += ms;
    },
    ...more,
  });
  return { started, time: () => time, lines };
}

test('S087: without the own Node the rules are written all the same, and it is said', async () => {
  const { started, lines } = gate({}, () => undefined);
  assert.equal(await started, true);
  assert.match(lines.join(), /own Node is not in the cluster/);
});

test('a listing of the Node that never ends is waited for half a minute', async () => {
  const never = new Promise<void>(() => {});
  const { started, time } = gate({}, () => NODE, { settingsListed: never });
  assert.equal(await started, true);
  assert.equal(time(), 30_000);
});

test('S086: in NodeCIDR mode podCIDRs are waited for', async () => {
  const { started, lines } = gate({ detectLocalMode: 'NodeCIDR' }, (time) =>
    time < 10_000 ? NODE : WITH_CIDR,
  );
  assert.equal(await started, true);
  assert.deepEqual(lines, ['Waiting for the podCIDRs of the own Node']);
});

test('S088 S089: in NodeCIDR mode a Node, or podCIDRs, that never come are fatal', async () => {
  await assert.rejects(gate({ detectLocalMode: 'NodeCIDR' }, () => undefined).started, {
    code: 'E_CONFIG',
    message: 'timeout waiting for node "n1" to exist',
  });
  const late = gate({ detectLocalMode: 'NodeCIDR' }, () => NODE);
  await assert.rejects(late.started, { message: 'timeout waiting for PodCIDR allocation on node "n1"' });
  assert.ok(late.time() >= 330_000);
});

test('S400: nothing starts before the listings, and nothing after the end', async () => {
  const ending = new AbortController();
  const { started } = gate({}, () => NODE, { listed: new Promise(() => {}), signal: ending.signal });
  ending.abort();
  assert.equal(await started, false);
});
