import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createLocalAddresses } from './local-addresses.ts';

/** A machine whose addresses a test changes. */
function machine(first: readonly string[]) {
  let addresses = first;
  let failures = 0;
  let onChange = (): void => {};
  return {
    lists: 0,
    closed: 0,
    fail(times: number) {
      failures = times;
    },
    set(next: readonly string[]) {
      addresses = next;
      onChange();
    },
    async list() {
      this.lists += 1;
      if (failures > 0) {
        failures -= 1;
        throw new Error('no answer');
      }
      return addresses;
    },
    async watch(changed: () => void) {
      onChange = changed;
      return {
        close: async () => {
          this.closed += 1;
        },
      };
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('B095: addresses are listed at first and after each change, and told when they differ', async () => {
  const source = machine(['192.0.2.11', '127.0.0.1', '192.0.2.11']);
  const seen: (readonly string[])[] = [];
  const addresses = createLocalAddresses({ source, changed: (list) => seen.push(list), log: silentLogger });
  const ending = new AbortController();
  const running = addresses.run(ending.signal);
  await addresses.listed;
  source.set(['192.0.2.11', '127.0.0.1', '192.0.2.99']);
  await turn();
  source.set(['192.0.2.99', '127.0.0.1', '192.0.2.11']);
  await turn();
  assert.deepEqual(seen, [
    ['127.0.0.1', '192.0.2.11'],
    ['127.0.0.1', '192.0.2.11', '192.0.2.99'],
  ]);
  assert.equal(source.lists, 3);
  ending.abort();
  await running;
  assert.equal(source.closed, 1);
});

test('a list that fails is tried again', async () => {
  const source = machine(['192.0.2.11']);
  source.fail(2);
  const seen: (readonly string[])[] = [];
  const addresses = createLocalAddresses({
    source,
    changed: (list) => seen.push(list),
    log: silentLogger,
    sleep: turn,
  });
  const ending = new AbortController();
  const running = addresses.run(ending.signal);
  await addresses.listed;
  assert.deepEqual(seen, [['192.0.2.11']]);
  ending.abort();
  await running;
});
