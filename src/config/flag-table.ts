// Every flag of the proxy, as data: the parser, --help, completion and docs/flags.md all read this one table.
import {
  addressKind,
  booleanKind,
  durationKind,
  type FlagKind,
  floatKind,
  gatesKind,
  integerKind,
  ipKind,
  listKind,
  quantityKind,
  type Read,
  textKind,
  verbosityPatternsKind,
} from './flag-kinds.ts';
import type { FlagValues } from './flag-values.ts';

/**
 * `works`: does what upstream's does. `accepted`: read and checked, and nothing remains to be done; the help says why.
 */
export type FlagState = 'works' | 'accepted';

export interface Flag {
  /** Without dashes. */
  readonly name: string;
  /** One letter. */
  readonly shorthand?: string;
  /** What help calls the value. */
  readonly type: string;
  /** The value of a flag that is given without one; others need a value. */
  readonly bare?: string;
  readonly default: string;
  readonly help: string;
  /** Its place in KubeProxyConfiguration, empty if it has none. */
  readonly field: string;
  readonly state: FlagState;
  /** What the value sets. */
  read(text: string): Read<Partial<FlagValues>>;
}

interface Row<T> {
  readonly shorthand?: string;
  readonly default?: string;
  readonly help: string;
  readonly field?: string;
  readonly state?: FlagState;
  readonly sets: (value: T) => Partial<FlagValues>;
}

function flag<T>(name: string, kind: FlagKind<T>, row: Row<T>): Flag {
  return {
    name,
    ...(row.shorthand === undefined ? {} : { shorthand: row.shorthand }),
    type: kind.type,
    ...(kind.bare === undefined ? {} : { bare: kind.bare }),
    default: row.default ?? '',
    help: row.help,
    field: row.field ?? '',
    state: row.state ?? 'works',
    read(text) {
      const read = kind.read(text);
      return read.kind === 'wrong' ? read : { kind: 'read', value: row.sets(read.value) };
    },
  };
}

const NOTHING = (): Partial<FlagValues> => ({});

const IPVS = 'Of IPVS mode, which is not there yet';
const UNDER_GATE = 'Has no effect; only with the feature gate LoggingAlphaOptions';

export const FLAGS: readonly Flag[] = [
  flag('config', textKind, {
    help: 'Configuration file (KubeProxyConfiguration). With it other flags count for nothing, but for --hostname-override, --master and those of the log',
    sets: (config) => ({ config }),
  }),
  flag('write-config-to', textKind, {
    help: 'Write the configuration with all defaults to this file, and end',
    sets: (writeConfigTo) => ({ writeConfigTo }),
  }),
  flag('cleanup', booleanKind, {
    default: 'false',
    help: "Remove what a kube-proxy of any mode, or Pointsman, left in this node's kernel, and end",
    sets: (cleanup) => ({ cleanup }),
  }),
  flag('init-only', booleanKind, {
    default: 'false',
    help: 'Do what needs privileges, such as setting sysctls, and end',
    sets: (initOnly) => ({ initOnly }),
  }),
  flag('feature-gates', gatesKind, {
    help: 'Features to switch on or off, as AllowServiceExternalIPs=false',
    field: 'featureGates',
    sets: (featureGates) => ({ featureGates }),
  }),
  flag('bind-address', ipKind, {
    default: '0.0.0.0',
    help: "Overrides the node's address of its family, and makes that family the first; nothing is bound to it",
    field: 'bindAddress',
    sets: (bindAddress) => ({ bindAddress }),
  }),
  flag('profiling', booleanKind, {
    default: 'false',
    help: 'Serve profiles under /debug/pprof on the metrics port',
    field: 'enableProfiling',
    sets: (profiling) => ({ profiling }),
  }),
  flag('show-hidden-metrics-for-version', textKind, {
    help: 'Has no effect: there are no hidden metrics. Empty or 1.35',
    field: 'showHiddenMetricsForVersion',
    state: 'accepted',
    sets: (showHiddenMetrics) => ({ showHiddenMetrics }),
  }),
  flag('pod-bridge-interface', textKind, {
    help: 'The bridge that local pods come in by, for --detect-local-mode=BridgeInterface',
    field: 'detectLocal.bridgeInterface',
    sets: (podBridgeInterface) => ({ podBridgeInterface }),
  }),
  flag('pod-interface-name-prefix', textKind, {
    help: 'What names of interfaces of local pods begin with, for --detect-local-mode=InterfaceNamePrefix',
    field: 'detectLocal.interfaceNamePrefix',
    sets: (podInterfaceNamePrefix) => ({ podInterfaceNamePrefix }),
  }),
  flag('nodeport-addresses', listKind('cidr,...'), {
    help: "Node ports are served on the node's addresses in these CIDRs; primary, or nothing: on its first address of each family",
    field: 'nodePortAddresses',
    sets: (nodePortAddresses) => ({ nodePortAddresses }),
  }),
  flag('conntrack-max-per-core', integerKind, {
    default: '32768',
    help: 'Connections to track for each core; 0 leaves nf_conntrack_max alone',
    field: 'conntrack.maxPerCore',
    sets: (conntrackMaxPerCore) => ({ conntrackMaxPerCore }),
  }),
  flag('conntrack-min', integerKind, {
    default: '131072',
    help: 'Connections to track at least, whatever the cores',
    field: 'conntrack.min',
    sets: (conntrackMin) => ({ conntrackMin }),
  }),
  flag('conntrack-tcp-timeout-established', durationKind, {
    default: '24h0m0s',
    help: 'How long an idle TCP connection is tracked; 0 leaves it alone',
    field: 'conntrack.tcpEstablishedTimeout',
    sets: (conntrackTcpEstablishedMs) => ({ conntrackTcpEstablishedMs }),
  }),
  flag('conntrack-tcp-timeout-close-wait', durationKind, {
    default: '1h0m0s',
    help: 'How long a TCP connection in CLOSE_WAIT is tracked; 0 leaves it alone',
    field: 'conntrack.tcpCloseWaitTimeout',
    sets: (conntrackTcpCloseWaitMs) => ({ conntrackTcpCloseWaitMs }),
  }),
  flag('conntrack-tcp-be-liberal', booleanKind, {
    default: 'false',
    help: 'Do not take packets outside of the TCP window for invalid',
    field: 'conntrack.tcpBeLiberal',
    sets: (conntrackTcpBeLiberal) => ({ conntrackTcpBeLiberal }),
  }),
  flag('conntrack-udp-timeout', durationKind, {
    default: '0s',
    help: 'How long a UDP flow without an answer is tracked; 0 leaves it alone',
    field: 'conntrack.udpTimeout',
    sets: (conntrackUdpMs) => ({ conntrackUdpMs }),
  }),
  flag('conntrack-udp-timeout-stream', durationKind, {
    default: '0s',
    help: 'How long a UDP flow with answers is tracked; 0 leaves it alone',
    field: 'conntrack.udpStreamTimeout',
    sets: (conntrackUdpStreamMs) => ({ conntrackUdpStreamMs }),
  }),
  flag('iptables-masquerade-bit', integerKind, {
    default: '14',
    help: 'The bit of the packet mark that asks for masquerading, in iptables mode; nftables mode marks no packets',
    field: 'iptables.masqueradeBit',
    sets: (masqueradeBit) => ({ masqueradeBit }),
  }),
  flag('iptables-localhost-nodeports', booleanKind, {
    default: 'true',
    help: 'Serve node ports on 127.0.0.1, in iptables mode; nftables mode never does, as upstream',
    field: 'iptables.localhostNodePorts',
    sets: (localhostNodePorts) => ({ localhostNodePorts }),
  }),
  flag('ipvs-sync-period', durationKind, {
    default: '30s',
    help: IPVS,
    field: 'ipvs.syncPeriod',
    state: 'accepted',
    sets: (ipvsSyncPeriodMs) => ({ ipvsSyncPeriodMs }),
  }),
  flag('ipvs-min-sync-period', durationKind, {
    default: '1s',
    help: IPVS,
    field: 'ipvs.minSyncPeriod',
    state: 'accepted',
    sets: (ipvsMinSyncPeriodMs) => ({ ipvsMinSyncPeriodMs }),
  }),
  flag('ipvs-scheduler', textKind, {
    help: IPVS,
    field: 'ipvs.scheduler',
    state: 'accepted',
    sets: (ipvsScheduler) => ({ ipvsScheduler }),
  }),
  flag('ipvs-exclude-cidrs', listKind('cidr,...'), {
    help: IPVS,
    field: 'ipvs.excludeCIDRs',
    state: 'accepted',
    sets: (ipvsExcludeCidrs) => ({ ipvsExcludeCidrs }),
  }),
  flag('ipvs-strict-arp', booleanKind, {
    default: 'false',
    help: IPVS,
    field: 'ipvs.strictARP',
    state: 'accepted',
    sets: (ipvsStrictArp) => ({ ipvsStrictArp }),
  }),
  flag('ipvs-tcp-timeout', durationKind, {
    default: '0s',
    help: IPVS,
    field: 'ipvs.tcpTimeout',
    state: 'accepted',
    sets: (ipvsTcpTimeoutMs) => ({ ipvsTcpTimeoutMs }),
  }),
  flag('ipvs-tcpfin-timeout', durationKind, {
    default: '0s',
    help: IPVS,
    field: 'ipvs.tcpFinTimeout',
    state: 'accepted',
    sets: (ipvsTcpFinTimeoutMs) => ({ ipvsTcpFinTimeoutMs }),
  }),
  flag('ipvs-udp-timeout', durationKind, {
    default: '0s',
    help: IPVS,
    field: 'ipvs.udpTimeout',
    state: 'accepted',
    sets: (ipvsUdpTimeoutMs) => ({ ipvsUdpTimeoutMs }),
  }),
  flag('pointsman-socket', textKind, {
    default: '/run/pointsman/pointsman.sock',
    help: "Pointsman's own: where its commands reach the proxy; empty for nowhere",
    sets: (adminSocket) => ({ adminSocket }),
  }),
  flag('pointsman-metrics-tls-cert-file', textKind, {
    help: "Pointsman's own: certificate for HTTPS on the metrics port, as PEM; followed when it is renewed",
    sets: (metricsTlsCertFile) => ({ metricsTlsCertFile }),
  }),
  flag('pointsman-metrics-tls-private-key-file', textKind, {
    help: "Pointsman's own: the key of that certificate",
    sets: (metricsTlsKeyFile) => ({ metricsTlsKeyFile }),
  }),
  flag('pointsman-metrics-authorization', booleanKind, {
    default: 'false',
    help: "Pointsman's own: the metrics port, but for /healthz, wants a bearer token that the API server knows (TokenReview) and allows the path (SubjectAccessReview)",
    sets: (metricsAuthorization) => ({ metricsAuthorization }),
  }),
  flag('log-text-split-stream', booleanKind, {
    default: 'false',
    help: UNDER_GATE,
    field: 'logging.options.text.splitStream',
    state: 'accepted',
    sets: (textSplitStream) => ({ textSplitStream }),
  }),
  flag('log-text-info-buffer-size', quantityKind, {
    default: '0',
    help: UNDER_GATE,
    field: 'logging.options.text.infoBufferSize',
    state: 'accepted',
    sets: (textInfoBufferSize) => ({ textInfoBufferSize }),
  }),
  flag('log-json-split-stream', booleanKind, {
    default: 'false',
    help: UNDER_GATE,
    field: 'logging.options.json.splitStream',
    state: 'accepted',
    sets: (jsonSplitStream) => ({ jsonSplitStream }),
  }),
  flag('log-json-info-buffer-size', quantityKind, {
    default: '0',
    help: UNDER_GATE,
    field: 'logging.options.json.infoBufferSize',
    state: 'accepted',
    sets: (jsonInfoBufferSize) => ({ jsonInfoBufferSize }),
  }),
  flag('kubeconfig', textKind, {
    help: 'File with the API server and the credentials; without it and --master, those of the pod',
    field: 'clientConnection.kubeconfig',
    sets: (kubeconfig) => ({ kubeconfig }),
  }),
  flag('master', textKind, {
    help: 'Address of the API server, instead of the one in the kubeconfig',
    sets: (master) => ({ master }),
  }),
  flag('kube-api-qps', floatKind, {
    default: '5',
    help: 'Requests a second to the API server; watches do not count',
    field: 'clientConnection.qps',
    sets: (kubeApiQps) => ({ kubeApiQps }),
  }),
  flag('kube-api-burst', integerKind, {
    default: '10',
    help: 'Requests to the API server at once',
    field: 'clientConnection.burst',
    sets: (kubeApiBurst) => ({ kubeApiBurst }),
  }),
  flag('kube-api-content-type', textKind, {
    default: 'application/vnd.kubernetes.protobuf',
    help: 'Has no effect: Pointsman talks JSON, which every API server does',
    field: 'clientConnection.contentType',
    state: 'accepted',
    sets: (kubeApiContentType) => ({ kubeApiContentType }),
  }),
  flag('hostname-override', textKind, {
    help: "The node's name in the cluster, when it is not the host's",
    field: 'hostnameOverride',
    sets: (hostnameOverride) => ({ hostnameOverride }),
  }),
  flag('proxy-mode', textKind, {
    default: 'nftables',
    help: 'The data path: nftables or iptables so far. Empty means nftables, where kube-proxy takes iptables',
    field: 'mode',
    sets: (proxyMode) => ({ proxyMode }),
  }),
  flag('cluster-cidr', textKind, {
    help: 'Where pods are, a CIDR or one of each family: others are masqueraded when they call a ClusterIP',
    field: 'clusterCIDR',
    sets: (clusterCidr) => ({ clusterCidr }),
  }),
  flag('masquerade-all', booleanKind, {
    default: 'false',
    help: 'Masquerade everything that is sent to a ClusterIP',
    field: 'nftables.masqueradeAll',
    sets: (masqueradeAll) => ({ masqueradeAll }),
  }),
  flag('detect-local-mode', textKind, {
    default: 'ClusterCIDR',
    help: 'How local pods are told from others: ClusterCIDR (none without --cluster-cidr), NodeCIDR, BridgeInterface or InterfaceNamePrefix',
    field: 'detectLocalMode',
    sets: (detectLocalMode) => ({ detectLocalMode }),
  }),
  flag('healthz-bind-address', addressKind, {
    default: '0.0.0.0:10256',
    help: 'Where /healthz and /livez are served; 0.0.0.0 stands for IPv6 too',
    field: 'healthzBindAddress',
    sets: (address) => (address === undefined ? {} : { healthzBindAddress: address }),
  }),
  flag('healthz-port', integerKind, {
    default: '10256',
    help: 'Deprecated. The port of a --healthz-bind-address without one; 0 switches the server off',
    sets: (healthzPort) => ({ healthzPort }),
  }),
  flag('metrics-bind-address', addressKind, {
    default: '127.0.0.1:10249',
    help: 'Where /metrics and /proxyMode are served; 0.0.0.0 stands for IPv6 too',
    field: 'metricsBindAddress',
    sets: (address) => (address === undefined ? {} : { metricsBindAddress: address }),
  }),
  flag('metrics-port', integerKind, {
    default: '10249',
    help: 'Deprecated. The port of a --metrics-bind-address without one',
    sets: (metricsPort) => ({ metricsPort }),
  }),
  flag('bind-address-hard-fail', booleanKind, {
    default: 'false',
    help: 'End when one of these ports cannot be opened, instead of trying again every 5 s',
    field: 'bindAddressHardFail',
    sets: (bindAddressHardFail) => ({ bindAddressHardFail }),
  }),
  flag('iptables-min-sync-period', durationKind, {
    default: '1s',
    help: 'Shortest time between two commits, in nftables mode too; the first change goes at once',
    field: 'nftables.minSyncPeriod',
    sets: (minSyncPeriodMs) => ({ minSyncPeriodMs }),
  }),
  flag('iptables-sync-period', durationKind, {
    default: '30s',
    help: 'Longest wait before a failed commit is tried again, in nftables mode too; a change that waits twice as long makes /healthz fail',
    field: 'nftables.syncPeriod',
    sets: (syncPeriodMs) => ({ syncPeriodMs }),
  }),
  flag('config-sync-period', durationKind, {
    default: '15m0s',
    help: 'Has no effect: the watches are kept in step without repeating what is known',
    field: 'configSyncPeriod',
    state: 'accepted',
    sets: (configSyncPeriodMs) => ({ configSyncPeriodMs }),
  }),
  flag('oom-score-adj', integerKind, {
    default: '-999',
    help: "The process's oom_score_adj, from -1000 to 1000",
    field: 'oomScoreAdj',
    sets: (oomScoreAdj) => ({ oomScoreAdj }),
  }),
  flag('v', integerKind, {
    shorthand: 'v',
    default: '0',
    help: 'How much the log says; 2 tells every sync',
    field: 'logging.verbosity',
    sets: (verbosity) => ({ verbosity }),
  }),
  flag('vmodule', verbosityPatternsKind, {
    help: 'The same for parts of the program by name, as kube*=4; with --logging-format=text only',
    field: 'logging.vmodule',
    sets: (vmodule) => ({ vmodule }),
  }),
  flag('logging-format', textKind, {
    default: 'text',
    help: "text (klog's lines) or json, to stderr",
    field: 'logging.format',
    sets: (loggingFormat) => ({ loggingFormat }),
  }),
  flag('log-flush-frequency', durationKind, {
    default: '5s',
    help: 'Has no effect: every line is written at once',
    field: 'logging.flushFrequency',
    state: 'accepted',
    sets: (flushFrequencyMs) => ({ flushFrequencyMs }),
  }),
  flag('boot-id-file', textKind, {
    help: 'Has no effect, as in kube-proxy',
    state: 'accepted',
    sets: NOTHING,
  }),
  flag('machine-id-file', textKind, {
    help: 'Has no effect, as in kube-proxy',
    state: 'accepted',
    sets: NOTHING,
  }),
];
