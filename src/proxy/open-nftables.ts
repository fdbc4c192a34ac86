// nftables mode's data path in the process's own network namespace.
import { openNftablesBackend } from '../backends/nftables/open.ts';
import { createKernelClient } from '../kernel/client.ts';
import { createConntrack } from '../kernel/conntrack/conntrack.ts';
import type { DataPath, OpenDataPath } from './data-path.ts';

export const openNftables: OpenDataPath = async ({ families, log }): Promise<DataPath> => {
  let restarts = 0;
  const backend = await openNftablesBackend({
    families,
    log: log.room('nftables'),
    // That it has to be compared anew it learns by its lost subscription or its unanswered commit.
    onRestart: () => {
      restarts += 1;
    },
  });
  return {
    backend,
    async openConntrack() {
      const client = await createKernelClient({ log: log.room('conntrack') });
      return { ...createConntrack(client), [Symbol.asyncDispose]: () => client.close() };
    },
    restarts: () => restarts,
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
};
