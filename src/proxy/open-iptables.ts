// iptables mode's data path in the process's own network namespace.
import { openIptablesBackend } from '../backends/iptables/open.ts';
import { createKernelClient, type KernelClient } from '../kernel/client.ts';
import { createConntrack } from '../kernel/conntrack/conntrack.ts';
import { listAddresses, watchAddresses } from '../kernel/route/addresses.ts';
import { addressText } from '../model/address.ts';
import type { DataPath, OpenDataPath } from './data-path.ts';
import { servesLocalhost } from './localhost-node-ports.ts';

const ROUTE_LOCALNET = 'net.ipv4.conf.all.route_localnet';
const BE_LIBERAL = 'net.netfilter.nf_conntrack_tcp_be_liberal';

export const openIptables: OpenDataPath = async ({
  families,
  log,
  config,
  settings,
  env,
}): Promise<DataPath> => {
  const own = log.room('iptables');
  const localhostNodePorts = servesLocalhost(config);
  if (localhostNodePorts && families.includes('IPv4') && settings.read(ROUTE_LOCALNET) !== '1') {
    own.info(
      'Setting route_localnet=1 to allow node-ports on localhost; to change this either disable --iptables-localhost-nodeports or set --nodeport-addresses to filter loopback addresses',
    );
    settings.write(ROUTE_LOCALNET, 1);
  }
  const liberal = config.conntrack.tcpBeLiberal || settings.read(BE_LIBERAL) !== '0';
  if (liberal) own.info('nf_conntrack_tcp_be_liberal set, not installing DROP rules for INVALID packets');
  const backend = await openIptablesBackend({
    families,
    path: env.PATH ?? '',
    masqueradeBit: config.source.iptables.masqueradeBit,
    localhostNodePorts,
    dropInvalid: !liberal,
    watchEveryMs: config.syncPeriodMs,
    log: own,
  });
  let restarts = 0;
  let client: Promise<KernelClient> | undefined;
  // Only where addresses matter is netlink needed.
  const netlink = (): Promise<KernelClient> => {
    client ??= createKernelClient({
      log: own,
      onRestart: () => {
        restarts += 1;
      },
    });
    return client;
  };
  return {
    backend,
    iptables: backend,
    addresses: {
      async list() {
        return (await listAddresses(await netlink())).map(({ address }) => addressText(address));
      },
      watch: async (onChange) => watchAddresses(await netlink(), onChange),
    },
    async openConntrack() {
      const conntrack = await createKernelClient({ log: log.room('conntrack') });
      return { ...createConntrack(conntrack), [Symbol.asyncDispose]: () => conntrack.close() };
    },
    restarts: () => restarts,
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await (await client)?.close();
    },
  };
};
