// What the proxy is to do: a configuration, completed and checked.
import { PointsmanError } from '../base/errors.ts';
import { type Cidr, parseAddress, parseCidr } from '../model/address.ts';
import { type Configuration, modeSettings } from './configuration.ts';
import type { DurationMs } from './duration.ts';
import { gateOn } from './feature-gates.ts';
import type { VerbosityPattern } from './flag-kinds.ts';
import { DEFAULT_VALUES, type FlagValues } from './flag-values.ts';
import type { SocketAddress } from './socket-address.ts';
import { clusterCidrTexts, loggingProblem, socketAddressOf, validate } from './validate.ts';

/** Data paths that exist. */
export type ProxyMode = 'nftables' | 'iptables';

export type LoggingFormat = 'text' | 'json';

/** Verbosity is klog's: higher says more. */
export interface LoggingConfig {
  readonly format: LoggingFormat;
  readonly verbosity: number;
  readonly vmodule: readonly VerbosityPattern[];
}

/** How local pods are told from others (behaviour spec 3.3, Detector), before the own Node is known. */
export type LocalDetection =
  /** At most one CIDR a family; none is no detector. */
  | { readonly kind: 'cluster-cidr'; readonly cidrs: readonly Cidr[] }
  | { readonly kind: 'node-cidr' }
  | { readonly kind: 'bridge'; readonly name: string }
  | { readonly kind: 'interface-prefix'; readonly prefix: string };

/** Which of the node's addresses serve node ports, before they are known. */
export type NodePortSelection =
  | { readonly kind: 'primary' }
  /** A family without a CIDR is served on all addresses (behaviour spec 1.6). */
  | { readonly kind: 'cidrs'; readonly cidrs: readonly Cidr[] };

/** 0 leaves a setting alone; times in seconds. */
export interface ConntrackConfig {
  readonly maxPerCore: number;
  readonly min: number;
  readonly tcpEstablished: number;
  readonly tcpCloseWait: number;
  readonly tcpBeLiberal: boolean;
  readonly udp: number;
  readonly udpStream: number;
}

export interface ProxyConfig {
  readonly kubeconfig: string;
  readonly master: string;
  /** Requests a second, 0 for no bound, and at once. */
  readonly kubeApi: { readonly qps: number; readonly burst: number };
  /** As in the cluster: trimmed, in lower case. */
  readonly nodeName: string;
  readonly mode: ProxyMode;
  /** Overrides the node's address of its family and makes that family the first; undefined: the Node decides. */
  readonly bindAddress: string | undefined;
  readonly localDetection: LocalDetection;
  readonly masqueradeAll: boolean;
  readonly nodePorts: NodePortSelection;
  readonly conntrack: ConntrackConfig;
  /** Undefined: no health server. */
  readonly healthz: SocketAddress | undefined;
  readonly metrics: SocketAddress | undefined;
  readonly bindAddressHardFail: boolean;
  readonly profiling: boolean;
  readonly minSyncPeriodMs: DurationMs;
  readonly syncPeriodMs: DurationMs;
  readonly oomScoreAdj: number;
  readonly logging: LoggingConfig;
  /** Externally reachable addresses of spec.externalIPs count (feature gate AllowServiceExternalIPs). */
  readonly externalIps: boolean;
  readonly own: OwnOptions;
  /** Feature gates ComponentStatusz and ComponentFlagz. */
  readonly statusz: boolean;
  readonly flagz: boolean;
  /** As it was given, with defaults: what /configz shows. */
  readonly source: Configuration;
}

/** What only Pointsman has; by flags, beside a configuration file too. */
export interface OwnOptions {
  /** Path of the admin socket; undefined for none. */
  readonly adminSocket: string | undefined;
  /** PEM files for HTTPS on the metrics port. */
  readonly metricsTls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The metrics port wants a bearer token that the API server knows and allows. */
  readonly metricsAuthorization: boolean;
}

/** Throws E_USAGE when half of a pair of files is missing. */
export function ownOptions(values: FlagValues): OwnOptions {
  const { adminSocket, metricsTlsCertFile: certFile, metricsTlsKeyFile: keyFile } = values;
  if ((certFile === '') !== (keyFile === ''))
    throw new PointsmanError(
      'E_USAGE',
      '--pointsman-metrics-tls-cert-file and --pointsman-metrics-tls-private-key-file belong together',
      { hint: 'give both, or none' },
    );
  return {
    adminSocket: adminSocket === '' ? undefined : adminSocket,
    metricsTls: certFile === '' ? undefined : { certFile, keyFile },
    metricsAuthorization: values.metricsAuthorization,
  };
}

export interface ProxyConfigFacts {
  /** What the host calls itself. */
  readonly hostname: string;
  /** Address of the API server that overrides the kubeconfig's; empty for none. */
  readonly master: string;
  readonly own: OwnOptions;
}

/** Throws E_USAGE in one line, that begins as upstream's does, when the configuration is wrong in any mode. */
export function checkConfiguration(source: Configuration): void {
  const logging = loggingProblem(source);
  if (logging !== undefined) throw new PointsmanError('E_USAGE', `initialize logging: ${logging}`);
  const problems = validate(source);
  const [first] = problems;
  if (first !== undefined) {
    const words = problems.length === 1 ? first : `[${problems.join(', ')}]`;
    throw new PointsmanError('E_USAGE', `failed validate: ${words}`);
  }
}

/** Throws E_USAGE as `checkConfiguration` does, and for what is not there yet. */
export function proxyConfig(source: Configuration, { hostname, master, own }: ProxyConfigFacts): ProxyConfig {
  const nodeName = nodeNameOf(source.hostnameOverride, hostname);
  checkConfiguration(source);
  const { mode } = source;
  if (mode !== 'nftables' && mode !== 'iptables') {
    throw new PointsmanError('E_USAGE', `proxy mode ${mode} is not there yet: nftables and iptables are`, {
      hint: 'use --proxy-mode=nftables, or mode: nftables in the file',
    });
  }
  const { masqueradeAll, syncPeriod, minSyncPeriod } = modeSettings(source);
  return {
    kubeconfig: source.clientConnection.kubeconfig,
    master,
    kubeApi: kubeApiRate(source.clientConnection),
    nodeName,
    mode,
    bindAddress: bindAddressOf(source.bindAddress),
    localDetection: localDetectionOf(source),
    masqueradeAll,
    nodePorts: nodePortsOf(source.nodePortAddresses),
    conntrack: conntrackOf(source.conntrack),
    healthz: socketAddressOf(source.healthzBindAddress),
    metrics: socketAddressOf(source.metricsBindAddress),
    bindAddressHardFail: source.bindAddressHardFail,
    profiling: source.enableProfiling,
    minSyncPeriodMs: minSyncPeriod,
    syncPeriodMs: syncPeriod,
    oomScoreAdj: source.oomScoreAdj,
    logging: {
      format: source.logging.format === 'json' ? 'json' : 'text',
      verbosity: source.logging.verbosity,
      vmodule: source.logging.vmodule,
    },
    externalIps: gateOn(source.featureGates, 'AllowServiceExternalIPs'),
    own,
    statusz: gateOn(source.featureGates, 'ComponentStatusz'),
    flagz: gateOn(source.featureGates, 'ComponentFlagz'),
    source,
  };
}

/** As upstream's client takes them: 0 is its default, a negative rate is none. */
function kubeApiRate({ qps, burst }: Configuration['clientConnection']): ProxyConfig['kubeApi'] {
  return {
    qps: qps === 0 ? DEFAULT_VALUES.kubeApiQps : Math.max(0, qps),
    burst: burst === 0 ? DEFAULT_VALUES.kubeApiBurst : burst,
  };
}

/** The unspecified address decides nothing. */
function bindAddressOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address === '0.0.0.0' || address === '::' ? undefined : address;
}

function localDetectionOf(source: Configuration): LocalDetection {
  const { bridgeInterface, interfaceNamePrefix } = source.detectLocal;
  switch (source.detectLocalMode) {
    case 'NodeCIDR':
      return { kind: 'node-cidr' };
    case 'BridgeInterface':
      return { kind: 'bridge', name: bridgeInterface };
    case 'InterfaceNamePrefix':
      return { kind: 'interface-prefix', prefix: interfaceNamePrefix };
    default:
      return {
        kind: 'cluster-cidr',
        cidrs: clusterCidrTexts(source).flatMap((text) => parseCidr(text) ?? []),
      };
  }
}

function nodePortsOf(texts: readonly string[]): NodePortSelection {
  return texts.includes('primary')
    ? { kind: 'primary' }
    : { kind: 'cidrs', cidrs: texts.flatMap((text) => parseCidr(text) ?? []) };
}

function conntrackOf(source: Configuration['conntrack']): ConntrackConfig {
  const seconds = (ms: DurationMs): number => Math.trunc(ms / 1000);
  return {
    maxPerCore: source.maxPerCore,
    min: source.min,
    tcpEstablished: seconds(source.tcpEstablishedTimeout),
    tcpCloseWait: seconds(source.tcpCloseWaitTimeout),
    tcpBeLiberal: source.tcpBeLiberal,
    udp: seconds(source.udpTimeout),
    udpStream: seconds(source.udpStreamTimeout),
  };
}

/** Behaviour spec 1.6: the override, else the host's name; trimmed, in lower case. */
export function nodeNameOf(override: string, hostname: string): string {
  const name = (override === '' ? hostname : override).trim().toLowerCase();
  if (name === '')
    throw new PointsmanError(
      'E_USAGE',
      `failed complete: ${override === '' ? 'empty hostname is invalid' : 'empty hostname-override is invalid'}`,
      { hint: "set --hostname-override to the node's name" },
    );
  return name;
}
