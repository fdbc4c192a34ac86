// nftables mode's data path over the kernel thread.
import { openNftablesBackend } from '../backends/nftables/open.ts';
import type { OpenDataPath } from './data-path.ts';

export const openNftables: OpenDataPath = async ({ families, log }) => {
  let restarts = 0;
  const kernelLog = log.room('kernel');
  const backend = await openNftablesBackend({
    families,
    log: log.room('nftables'),
    // Transactions under way answer that their outcome is unknown, and events count as lost: both end in a reconcile.
    onRestart(because) {
      restarts += 1;
      kernelLog.warn('The kernel thread was started anew', { because });
    },
  });
  return { backend, restarts: () => restarts, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() };
};
