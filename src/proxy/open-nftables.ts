// nftables mode's data path in the process's own network namespace.
import { createNftablesBackend } from '../backends/nftables/backend.ts';
import { createNetlinkPort } from '../backends/nftables/netlink-port.ts';
import { TABLE_NAME } from '../backends/nftables/ruleset.ts';
import { createKernelClient } from '../kernel/client.ts';
import { createConntrack } from '../kernel/conntrack/conntrack.ts';
import { listAddresses, watchAddresses } from '../kernel/route/addresses.ts';
import { addressText } from '../model/address.ts';
import type { DataPath, OpenDataPath } from './data-path.ts';

export const openNftables: OpenDataPath = async ({ families, log }): Promise<DataPath> => {
  let restarts = 0;
  const client = await createKernelClient({
    log: log.room('nftables'),
    // That it has to be compared anew the backend learns by its lost subscription or its unanswered commit.
    onRestart: () => {
      restarts += 1;
    },
  });
  const backend = createNftablesBackend({
    nft: createNetlinkPort(client, TABLE_NAME),
    families,
    log: log.room('nftables'),
  });
  return {
    backend,
    addresses: {
      async list() {
        return (await listAddresses(client)).map(({ address }) => addressText(address));
      },
      watch: (onChange) => watchAddresses(client, onChange),
    },
    async openConntrack() {
      const own = await createKernelClient({ log: log.room('conntrack') });
      return { ...createConntrack(own), [Symbol.asyncDispose]: () => own.close() };
    },
    restarts: () => restarts,
    // The backend closes the client, which is its own.
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
};
