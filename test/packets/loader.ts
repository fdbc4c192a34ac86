// A process that loads many Services into a namespace and says how far it is: loader NAMESPACE SERVICES. For tests that
// kill it.
import { syntheticCluster } from '../../bench/synthetic-cluster.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';
import { loadedState } from './loaded-state.ts';

const [, , namespace = '', count = '0'] = process.argv;
const state = await loadedState(syntheticCluster(Number(count), 3));
const backend = await openNftablesBackend({ namespace, families: ['IPv4'], log: silentLogger });
process.stdout.write('loading\n');
const { failed } = await backend.reconcile(state.table);
process.stdout.write(failed === undefined ? 'loaded\n' : `failed: ${failed.message}\n`);
await backend[Symbol.asyncDispose]();
