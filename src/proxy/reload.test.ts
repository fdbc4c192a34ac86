import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { DEFAULT_VALUES } from '../config/flag-values.ts';
import { configurationOf } from '../config/from-flags.ts';
import { NO_OWN } from '../config/no-own.ts';
import { type ProxyConfig, proxyConfig } from '../config/proxy-config.ts';
import { type ConfigFileState, runReloading } from './reload.ts';

const configOf = (clusterCidr: string): ProxyConfig =>
  proxyConfig(configurationOf({ ...DEFAULT_VALUES, clusterCidr }), {
    hostname: 'n',
    master: '',
    own: NO_OWN,
  });
const A = configOf('10.1.0.0/16');
const B = configOf('10.2.0.0/16');
/** One with which the proxy cannot start. */
const BROKEN = configOf('10.3.0.0/16');

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function stage() {
  const ran: string[] = [];
  let file: ProxyConfig | Error = A;
  let changed = async (): Promise<void> => {};
  let state: () => ConfigFileState = () => assert.fail();
  let die = (_error: Error): void => {};
  const ending = new AbortController();
  const ended = runReloading({
    path: '/etc/p.conf',
    first: A,
    async load() {
      if (file instanceof Error) throw file;
      return structuredClone(file);
    },
    async watch(onChange, signal) {
      changed = onChange;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    async run(config, fileState, started, signal) {
      const cidr = config.source.clusterCIDR;
      state = fileState;
      if (cidr === BROKEN.source.clusterCIDR) throw new Error('port is taken');
      ran.push(cidr);
      started();
      const dead = Promise.withResolvers<void>();
      die = dead.reject;
      signal.addEventListener('abort', () => dead.resolve(), { once: true });
      await dead.promise;
    },
    log: silentLogger,
    now: () => 1000,
    signal: ending.signal,
  });
  ended.catch(() => {});
  return {
    ran,
    ended,
    end: () => ending.abort(),
    kill: (error: Error) => die(error),
    state: () => state(),
    async put(next: ProxyConfig | Error) {
      file = next;
      await changed();
      await turns();
    },
  };
}

test('a changed file is taken by a restart within the process', async () => {
  const it = stage();
  await turns();
  await it.put(B);
  assert.deepEqual(it.ran, ['10.1.0.0/16', '10.2.0.0/16']);
  assert.deepEqual([it.state().applied, it.state().refusals, it.state().refused], [1, 0, undefined]);
  it.end();
  await it.ended;
});

test('a file that says the same, or came back to it, restarts nothing', async () => {
  const it = stage();
  await turns();
  await it.put(A);
  assert.deepEqual(it.ran, ['10.1.0.0/16']);
  await it.put(new Error('failed to decode'));
  await it.put(A);
  assert.deepEqual(it.ran, ['10.1.0.0/16']);
  assert.equal(it.state().refused, undefined);
  it.end();
  await it.ended;
});

test('a file that cannot be read is refused once, and the one before stays in force', async () => {
  const it = stage();
  await turns();
  await it.put(new Error('failed to decode: x'));
  await it.put(new Error('failed to decode: x'));
  assert.deepEqual(it.ran, ['10.1.0.0/16']);
  assert.deepEqual(it.state().refused, { at: 1000, because: 'failed to decode: x' });
  assert.equal(it.state().refusals, 1);
  it.end();
  await it.ended;
});

test('a file with which the proxy cannot start gives way to the one before', async () => {
  const it = stage();
  await turns();
  await it.put(BROKEN);
  assert.deepEqual(it.ran, ['10.1.0.0/16', '10.1.0.0/16']);
  assert.equal(it.state().refused?.because, 'port is taken');
  await it.put(BROKEN);
  assert.equal(it.ran.length, 2);
  await it.put(B);
  assert.deepEqual(it.ran.at(-1), '10.2.0.0/16');
  assert.equal(it.state().refused, undefined);
  it.end();
  await it.ended;
});

test('what ends the proxy later ends the process', async () => {
  const it = stage();
  await turns();
  it.kill(new Error('the kernel is gone'));
  await assert.rejects(it.ended, { message: 'the kernel is gone' });
});
