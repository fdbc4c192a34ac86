// pool-trap NAMESPACE [prepared]: wakes libuv's pool for the first time inside a namespace, and prints where the pool's
// threads are afterwards: "home" or "away".
import { readlinkSync } from 'node:fs';
import { readlink, stat } from 'node:fs/promises';
import { inNetns, OWN_NAMESPACE, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';

const [, , namespace = '', prepared] = process.argv;
if (prepared === 'prepared') await preparePool();
let started: Promise<unknown> = Promise.resolve();
inNetns(createKoffiSys(), namespace, (): undefined => {
  started = stat('/');
});
await started;
console.log((await readlink(OWN_NAMESPACE)) === readlinkSync(OWN_NAMESPACE) ? 'home' : 'away');
