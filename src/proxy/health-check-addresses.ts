// Where health check node ports are served: where node ports are (behaviour spec 6.2).
import type { NodePortSelection } from '../config/proxy-config.ts';
import type { Address } from '../model/address.ts';
import type { ListenAddresses } from '../observe/service-health.ts';
import type { ForwardingTable } from '../plan/forwarding-table.ts';

/**
 * The addresses that serve node ports. A primary address that no interface has, as behind the address translation of a
 * cloud, cannot be listened on: all are then, for a balancer must get its answer.
 */
export function healthCheckAddresses(
  nodePorts: NodePortSelection,
  settings: ForwardingTable['settings'],
  local: readonly Address[],
): ListenAddresses {
  const of = (family: 'IPv4' | 'IPv6'): 'all' | readonly Address[] => {
    const listed = settings[family].nodePortAddresses;
    if (listed === 'all') return 'all';
    const here = listed.filter((address) => local.includes(address));
    return nodePorts.kind === 'primary' && here.length === 0 ? 'all' : here;
  };
  return { IPv4: of('IPv4'), IPv6: of('IPv6') };
}
