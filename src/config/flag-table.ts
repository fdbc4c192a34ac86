// Every flag of the proxy, as data: the parser, --help, completion and docs/flags.md all read this one table.
import {
  addressKind,
  booleanKind,
  choiceKind,
  durationKind,
  type FlagKind,
  floatKind,
  integerKind,
  type Read,
  textKind,
  verbosityPatternsKind,
} from './flag-kinds.ts';
import type { FlagValues, LoggingFormat } from './flag-values.ts';
import { LATER_FLAGS } from './later-flags.ts';

/**
 * `works`: does what upstream's does. `accepted`: read and checked, and nothing remains to be done; the help says why.
 * `later`: upstream has it and Pointsman does not yet; it is refused, never ignored.
 */
export type FlagState = 'works' | 'accepted' | 'later';

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

const PRESENT_FLAGS: readonly Flag[] = [
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
    sets: NOTHING,
  }),
  flag('hostname-override', textKind, {
    help: "The node's name in the cluster, when it is not the host's",
    field: 'hostnameOverride',
    sets: (hostnameOverride) => ({ hostnameOverride }),
  }),
  flag('proxy-mode', textKind, {
    default: 'nftables',
    help: 'The data path; only nftables so far. Empty means nftables, where kube-proxy takes iptables',
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
    help: 'How local pods are told from others; only ClusterCIDR so far, and none without --cluster-cidr',
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
  flag('logging-format', choiceKind<LoggingFormat>('text or json', ['text', 'json']), {
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
    sets: NOTHING,
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

export const FLAGS: readonly Flag[] = [...PRESENT_FLAGS, ...LATER_FLAGS];
