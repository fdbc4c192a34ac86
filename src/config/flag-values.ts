// What flags say, before it is checked as a whole.
import { STANDARD } from './configuration.ts';
import type { DurationMs } from './duration.ts';
import type { Gates } from './fields.ts';
import type { VerbosityPattern } from './flag-kinds.ts';

/** Texts stay as given where the check of the whole wants to show them. */
export interface FlagValues {
  /** A configuration file; with one, most other flags count for nothing (behaviour spec 1.2). */
  readonly config: string;
  readonly writeConfigTo: string;
  readonly cleanup: boolean;
  readonly initOnly: boolean;
  readonly featureGates: Gates;
  readonly kubeconfig: string;
  readonly master: string;
  readonly kubeApiContentType: string;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly hostnameOverride: string;
  readonly bindAddress: string;
  readonly proxyMode: string;
  readonly clusterCidr: string;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  readonly localhostNodePorts: boolean;
  readonly detectLocalMode: string;
  readonly podBridgeInterface: string;
  readonly podInterfaceNamePrefix: string;
  readonly nodePortAddresses: readonly string[];
  readonly healthzBindAddress: string;
  readonly healthzPort: number;
  readonly metricsBindAddress: string;
  readonly metricsPort: number;
  readonly bindAddressHardFail: boolean;
  readonly profiling: boolean;
  readonly showHiddenMetrics: string;
  readonly syncPeriodMs: DurationMs;
  readonly minSyncPeriodMs: DurationMs;
  readonly ipvsSyncPeriodMs: DurationMs;
  readonly ipvsMinSyncPeriodMs: DurationMs;
  readonly ipvsScheduler: string;
  readonly ipvsExcludeCidrs: readonly string[];
  readonly ipvsStrictArp: boolean;
  readonly ipvsTcpTimeoutMs: DurationMs;
  readonly ipvsTcpFinTimeoutMs: DurationMs;
  readonly ipvsUdpTimeoutMs: DurationMs;
  readonly configSyncPeriodMs: DurationMs;
  readonly oomScoreAdj: number;
  readonly conntrackMaxPerCore: number;
  readonly conntrackMin: number;
  readonly conntrackTcpEstablishedMs: DurationMs;
  readonly conntrackTcpCloseWaitMs: DurationMs;
  readonly conntrackTcpBeLiberal: boolean;
  readonly conntrackUdpMs: DurationMs;
  readonly conntrackUdpStreamMs: DurationMs;
  readonly loggingFormat: string;
  readonly flushFrequencyMs: DurationMs;
  readonly verbosity: number;
  readonly vmodule: readonly VerbosityPattern[];
  readonly textSplitStream: boolean;
  readonly textInfoBufferSize: string;
  readonly jsonSplitStream: boolean;
  readonly jsonInfoBufferSize: string;
  /** Path of the admin socket; empty for none. This and what follows only Pointsman has. */
  readonly adminSocket: string;
  /** PEM files for HTTPS on the metrics port; empty for HTTP. */
  readonly metricsTlsCertFile: string;
  readonly metricsTlsKeyFile: string;
  /** The metrics port wants a bearer token. */
  readonly metricsAuthorization: boolean;
}

/** Upstream's defaults (behaviour spec 1.2), but for the mode: ours is nftables. */
export const DEFAULT_VALUES: FlagValues = {
  config: '',
  writeConfigTo: '',
  cleanup: false,
  initOnly: false,
  featureGates: {},
  kubeconfig: '',
  master: '',
  kubeApiContentType: STANDARD.clientConnection.contentType,
  kubeApiQps: 5,
  kubeApiBurst: 10,
  hostnameOverride: '',
  bindAddress: STANDARD.bindAddress,
  proxyMode: 'nftables',
  clusterCidr: '',
  masqueradeAll: false,
  masqueradeBit: STANDARD.iptables.masqueradeBit,
  localhostNodePorts: STANDARD.iptables.localhostNodePorts,
  detectLocalMode: 'ClusterCIDR',
  podBridgeInterface: '',
  podInterfaceNamePrefix: '',
  nodePortAddresses: [],
  healthzBindAddress: '0.0.0.0:10256',
  healthzPort: 10_256,
  metricsBindAddress: '127.0.0.1:10249',
  metricsPort: 10_249,
  bindAddressHardFail: false,
  profiling: false,
  showHiddenMetrics: '',
  syncPeriodMs: 30_000,
  minSyncPeriodMs: 1_000,
  ipvsSyncPeriodMs: 30_000,
  // By flags it is 1 s, by a file 0 s (behaviour spec 1.3).
  ipvsMinSyncPeriodMs: 1_000,
  ipvsScheduler: '',
  ipvsExcludeCidrs: [],
  ipvsStrictArp: false,
  ipvsTcpTimeoutMs: 0,
  ipvsTcpFinTimeoutMs: 0,
  ipvsUdpTimeoutMs: 0,
  configSyncPeriodMs: 900_000,
  oomScoreAdj: -999,
  conntrackMaxPerCore: STANDARD.conntrack.maxPerCore,
  conntrackMin: STANDARD.conntrack.min,
  conntrackTcpEstablishedMs: STANDARD.conntrack.tcpEstablishedTimeout,
  conntrackTcpCloseWaitMs: STANDARD.conntrack.tcpCloseWaitTimeout,
  conntrackTcpBeLiberal: false,
  conntrackUdpMs: 0,
  conntrackUdpStreamMs: 0,
  loggingFormat: 'text',
  flushFrequencyMs: STANDARD.logging.flushFrequency,
  verbosity: 0,
  vmodule: [],
  textSplitStream: false,
  textInfoBufferSize: '0',
  jsonSplitStream: false,
  jsonInfoBufferSize: '0',
  adminSocket: '/run/pointsman/pointsman.sock',
  metricsTlsCertFile: '',
  metricsTlsKeyFile: '',
  metricsAuthorization: false,
};
