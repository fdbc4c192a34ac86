// What flags say, before it is checked as a whole.
import type { DurationMs } from './duration.ts';
import type { VerbosityPattern } from './flag-kinds.ts';

export type LoggingFormat = 'text' | 'json';

/** Verbosity is klog's: higher says more. */
export interface LoggingValues {
  readonly format: LoggingFormat;
  readonly verbosity: number;
  readonly vmodule: readonly VerbosityPattern[];
}

/** Texts stay as given where the check of the whole wants to show them. */
export interface FlagValues {
  readonly kubeconfig: string;
  readonly master: string;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly hostnameOverride: string;
  readonly proxyMode: string;
  readonly clusterCidr: string;
  readonly masqueradeAll: boolean;
  readonly detectLocalMode: string;
  readonly healthzBindAddress: string;
  readonly healthzPort: number;
  readonly metricsBindAddress: string;
  readonly metricsPort: number;
  readonly bindAddressHardFail: boolean;
  readonly syncPeriodMs: DurationMs;
  readonly minSyncPeriodMs: DurationMs;
  readonly configSyncPeriodMs: DurationMs;
  readonly oomScoreAdj: number;
  readonly loggingFormat: LoggingFormat;
  readonly verbosity: number;
  readonly vmodule: readonly VerbosityPattern[];
}

/** Upstream's defaults (behaviour spec 1.2), but for the mode: ours is nftables. */
export const DEFAULT_VALUES: FlagValues = {
  kubeconfig: '',
  master: '',
  kubeApiQps: 5,
  kubeApiBurst: 10,
  hostnameOverride: '',
  proxyMode: 'nftables',
  clusterCidr: '',
  masqueradeAll: false,
  detectLocalMode: 'ClusterCIDR',
  healthzBindAddress: '0.0.0.0:10256',
  healthzPort: 10_256,
  metricsBindAddress: '127.0.0.1:10249',
  metricsPort: 10_249,
  bindAddressHardFail: false,
  syncPeriodMs: 30_000,
  minSyncPeriodMs: 1_000,
  configSyncPeriodMs: 900_000,
  oomScoreAdj: -999,
  loggingFormat: 'text',
  verbosity: 0,
  vmodule: [],
};
