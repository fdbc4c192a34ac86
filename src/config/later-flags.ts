// Upstream's flags that Pointsman does not have yet (behaviour spec 1.2): known by name, and refused.
import { unreadKind } from './flag-kinds.ts';
import type { Flag } from './flag-table.ts';

function later(name: string, type: string, standard: string, field: string, help: string): Flag {
  const kind = unreadKind(type);
  return {
    name,
    type,
    ...(kind.bare === undefined ? {} : { bare: kind.bare }),
    default: standard,
    help,
    field,
    state: 'later',
    read: () => ({ kind: 'wrong', because: 'is not supported yet' }),
  };
}

export const LATER_FLAGS: readonly Flag[] = [
  later('config', 'string', '', '', 'Configuration file, instead of flags'),
  later('write-config-to', 'string', '', '', 'Write the configuration to a file and end'),
  later('cleanup', 'bool', 'false', '', 'Remove what any mode left in the kernel and end'),
  later('init-only', 'bool', 'false', '', 'Do what needs privileges and end'),
  later('feature-gates', 'name=bool,...', '', 'featureGates', 'Features to switch on or off'),
  later('bind-address', 'ip', '0.0.0.0', 'bindAddress', "Overrides the node's primary IP"),
  later('profiling', 'bool', 'false', 'enableProfiling', 'Serve profiles on the metrics port'),
  later(
    'show-hidden-metrics-for-version',
    'string',
    '',
    'showHiddenMetricsForVersion',
    'Serve metrics that the given version still had',
  ),
  later('iptables-masquerade-bit', 'int', '14', 'iptables.masqueradeBit', 'Bit of the mark for masquerading'),
  later(
    'iptables-localhost-nodeports',
    'bool',
    'true',
    'iptables.localhostNodePorts',
    'Serve node ports on 127.0.0.1',
  ),
  later('ipvs-sync-period', 'duration', '30s', 'ipvs.syncPeriod', 'Longest time between two syncs'),
  later('ipvs-min-sync-period', 'duration', '1s', 'ipvs.minSyncPeriod', 'Shortest time between two syncs'),
  later('ipvs-scheduler', 'string', '', 'ipvs.scheduler', 'How IPVS chooses an endpoint'),
  later('ipvs-exclude-cidrs', 'cidr,...', '', 'ipvs.excludeCIDRs', 'Virtual servers to leave alone'),
  later('ipvs-strict-arp', 'bool', 'false', 'ipvs.strictARP', 'Set arp_ignore and arp_announce'),
  later('ipvs-tcp-timeout', 'duration', '0s', 'ipvs.tcpTimeout', 'Of idle TCP connections'),
  later('ipvs-tcpfin-timeout', 'duration', '0s', 'ipvs.tcpFinTimeout', 'Of TCP connections after FIN'),
  later('ipvs-udp-timeout', 'duration', '0s', 'ipvs.udpTimeout', 'Of UDP flows'),
  later('pod-bridge-interface', 'string', '', 'detectLocal.bridgeInterface', 'Where local pods come in'),
  later(
    'pod-interface-name-prefix',
    'string',
    '',
    'detectLocal.interfaceNamePrefix',
    'How the interfaces of local pods are called',
  ),
  later('nodeport-addresses', 'cidr,...', '', 'nodePortAddresses', 'Addresses that serve node ports'),
  later('conntrack-max-per-core', 'int', '32768', 'conntrack.maxPerCore', 'Connections to track a core'),
  later('conntrack-min', 'int', '131072', 'conntrack.min', 'Connections to track at least'),
  later(
    'conntrack-tcp-timeout-established',
    'duration',
    '24h0m0s',
    'conntrack.tcpEstablishedTimeout',
    'Of idle TCP connections',
  ),
  later(
    'conntrack-tcp-timeout-close-wait',
    'duration',
    '1h0m0s',
    'conntrack.tcpCloseWaitTimeout',
    'Of TCP connections in CLOSE_WAIT',
  ),
  later(
    'conntrack-tcp-be-liberal',
    'bool',
    'false',
    'conntrack.tcpBeLiberal',
    'Accept packets outside of the TCP window',
  ),
  later('conntrack-udp-timeout', 'duration', '0s', 'conntrack.udpTimeout', 'Of UDP flows without answer'),
  later('conntrack-udp-timeout-stream', 'duration', '0s', 'conntrack.udpStreamTimeout', 'Of UDP flows'),
  later(
    'log-text-split-stream',
    'bool',
    'false',
    'logging.options.text.splitStream',
    'Errors to stderr only',
  ),
  later(
    'log-text-info-buffer-size',
    'quantity',
    '0',
    'logging.options.text.infoBufferSize',
    'Buffer of lines',
  ),
  later(
    'log-json-split-stream',
    'bool',
    'false',
    'logging.options.json.splitStream',
    'Errors to stderr only',
  ),
  later(
    'log-json-info-buffer-size',
    'quantity',
    '0',
    'logging.options.json.infoBufferSize',
    'Buffer of lines',
  ),
];
