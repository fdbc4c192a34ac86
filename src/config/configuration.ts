// KubeProxyConfiguration v1alpha1 (behaviour spec 1.3) as one table: the file, the flags and /configz all use it.
import type { DurationMs } from './duration.ts';
import {
  decimal,
  duration,
  type Field,
  type FieldsOf,
  flag,
  type Gates,
  gates,
  isRecord,
  patterns,
  quantity,
  type Section,
  text,
  texts,
  whole,
} from './fields.ts';
import type { VerbosityPattern } from './flag-kinds.ts';
import { withPort } from './socket-address.ts';

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';

const SECOND: DurationMs = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export interface LogOptions {
  /** Bytes, as a quantity. */
  readonly infoBufferSize: string;
  readonly splitStream: boolean;
}

/** Durations are milliseconds, texts as they were written: what they say is checked by `validate`. */
export interface Configuration {
  readonly featureGates: Gates;
  readonly clientConnection: {
    readonly kubeconfig: string;
    readonly acceptContentTypes: string;
    readonly contentType: string;
    readonly qps: number;
    readonly burst: number;
  };
  readonly logging: {
    readonly format: string;
    readonly flushFrequency: DurationMs;
    readonly verbosity: number;
    readonly vmodule: readonly VerbosityPattern[];
    readonly options: { readonly text: LogOptions; readonly json: LogOptions };
  };
  readonly hostnameOverride: string;
  readonly bindAddress: string;
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly bindAddressHardFail: boolean;
  readonly enableProfiling: boolean;
  readonly showHiddenMetricsForVersion: string;
  readonly mode: string;
  readonly iptables: {
    readonly masqueradeBit: number;
    readonly masqueradeAll: boolean;
    readonly localhostNodePorts: boolean;
    readonly syncPeriod: DurationMs;
    readonly minSyncPeriod: DurationMs;
  };
  readonly ipvs: {
    readonly syncPeriod: DurationMs;
    readonly minSyncPeriod: DurationMs;
    readonly scheduler: string;
    readonly excludeCIDRs: readonly string[];
    readonly strictARP: boolean;
    readonly tcpTimeout: DurationMs;
    readonly tcpFinTimeout: DurationMs;
    readonly udpTimeout: DurationMs;
  };
  readonly nftables: {
    readonly masqueradeBit: number;
    readonly masqueradeAll: boolean;
    readonly syncPeriod: DurationMs;
    readonly minSyncPeriod: DurationMs;
  };
  /** Of Windows: read and written, without effect. */
  readonly winkernel: {
    readonly networkName: string;
    readonly sourceVip: string;
    readonly enableDSR: boolean;
    readonly rootHnsEndpointName: string;
    readonly forwardHealthCheckVip: boolean;
  };
  readonly windowsRunAsService: boolean;
  /** Without effect, as in kube-proxy. */
  readonly portRange: string;
  readonly detectLocalMode: string;
  readonly detectLocal: { readonly bridgeInterface: string; readonly interfaceNamePrefix: string };
  readonly clusterCIDR: string;
  readonly nodePortAddresses: readonly string[];
  readonly oomScoreAdj: number;
  readonly conntrack: {
    readonly maxPerCore: number;
    readonly min: number;
    readonly tcpEstablishedTimeout: DurationMs;
    readonly tcpCloseWaitTimeout: DurationMs;
    readonly tcpBeLiberal: boolean;
    readonly udpTimeout: DurationMs;
    readonly udpStreamTimeout: DurationMs;
  };
  readonly configSyncPeriod: DurationMs;
}

const LOG_OPTIONS: FieldsOf<LogOptions> = { infoBufferSize: quantity(), splitStream: flag(false) };

/** Every field that a file may have. Addresses are completed once the whole is known (`completed`). */
const FIELDS: FieldsOf<Configuration> = {
  featureGates: gates(),
  clientConnection: {
    kubeconfig: text(),
    acceptContentTypes: text(),
    contentType: text('application/vnd.kubernetes.protobuf'),
    qps: decimal(5),
    burst: whole(10, 'zeroIsUnset'),
  },
  logging: {
    format: text('text'),
    flushFrequency: duration(5 * SECOND, 'zeroIsUnset'),
    verbosity: whole(0),
    vmodule: patterns(),
    options: { text: LOG_OPTIONS, json: LOG_OPTIONS },
  },
  hostnameOverride: text(),
  bindAddress: text('0.0.0.0'),
  healthzBindAddress: text(),
  metricsBindAddress: text(),
  bindAddressHardFail: flag(false),
  enableProfiling: flag(false),
  showHiddenMetricsForVersion: text(),
  mode: text(),
  iptables: {
    masqueradeBit: whole(14),
    masqueradeAll: flag(false),
    localhostNodePorts: flag(true),
    syncPeriod: duration(30 * SECOND, 'zeroIsUnset'),
    minSyncPeriod: duration(SECOND, 'zeroIsUnset'),
  },
  ipvs: {
    syncPeriod: duration(30 * SECOND, 'zeroIsUnset'),
    minSyncPeriod: duration(0),
    scheduler: text(),
    excludeCIDRs: texts(),
    strictARP: flag(false),
    tcpTimeout: duration(0),
    tcpFinTimeout: duration(0),
    udpTimeout: duration(0),
  },
  nftables: {
    masqueradeBit: whole(14),
    masqueradeAll: flag(false),
    syncPeriod: duration(30 * SECOND, 'zeroIsUnset'),
    minSyncPeriod: duration(SECOND, 'zeroIsUnset'),
  },
  winkernel: {
    networkName: text(),
    sourceVip: text(),
    enableDSR: flag(false),
    rootHnsEndpointName: text(),
    forwardHealthCheckVip: flag(false),
  },
  windowsRunAsService: flag(false),
  portRange: text(),
  detectLocalMode: text('ClusterCIDR'),
  detectLocal: { bridgeInterface: text(), interfaceNamePrefix: text() },
  clusterCIDR: text(),
  nodePortAddresses: texts(),
  oomScoreAdj: whole(-999),
  conntrack: {
    maxPerCore: whole(32_768),
    min: whole(131_072),
    tcpEstablishedTimeout: duration(24 * HOUR),
    tcpCloseWaitTimeout: duration(HOUR),
    tcpBeLiberal: flag(false),
    udpTimeout: duration(0),
    udpStreamTimeout: duration(0),
  },
  configSyncPeriod: duration(15 * MINUTE, 'zeroIsUnset'),
};

/** The same table for those who walk it: that it agrees with `Configuration` is checked above. */
const TABLE = FIELDS as unknown as Section;

/** A field that cannot be read, or that is not known. */
export interface FieldProblem {
  /** `conntrack.maxPerCore`. */
  readonly path: string;
  readonly because: string;
}

export interface ReadConfiguration {
  readonly configuration: Configuration;
  readonly wrong: readonly FieldProblem[];
  /** Fields without meaning here, which are passed over. */
  readonly unknown: readonly FieldProblem[];
}

/** Reads a decoded document. Keys that are found in another case count as unknown, as in strict decoding. */
export function readConfiguration(document: Readonly<Record<string, unknown>>): ReadConfiguration {
  const wrong: FieldProblem[] = [];
  const unknown: FieldProblem[] = [];
  const { apiVersion: _apiVersion, kind: _kind, ...fields } = document;
  const configuration = readSection(TABLE, fields, '', wrong, unknown) as unknown as Configuration;
  return { configuration: completed(configuration), wrong, unknown };
}

function readSection(
  section: Section,
  json: Readonly<Record<string, unknown>>,
  path: string,
  wrong: FieldProblem[],
  unknown: FieldProblem[],
): Readonly<Record<string, unknown>> {
  for (const name of Object.keys(json))
    if (!(name in section)) unknown.push({ path: path + name, because: `unknown field "${path}${name}"` });
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(section)) {
    const given = json[name];
    if (isField(entry)) {
      const result = entry.read(given);
      if (result.kind === 'wrong') wrong.push({ path: path + name, because: result.because });
      values[name] = result.kind === 'read' ? result.value : entry.standard;
    } else {
      if (given !== null && given !== undefined && !isRecord(given))
        wrong.push({ path: path + name, because: 'must be a map of fields' });
      values[name] = readSection(entry, isRecord(given) ? given : {}, `${path}${name}.`, wrong, unknown);
    }
  }
  return values;
}

/** The document of a configuration, as a file would have it: keys in order of the alphabet. */
export function configurationDocument(configuration: Configuration): Readonly<Record<string, unknown>> {
  const document = writeSection(TABLE, configuration as unknown as Readonly<Record<string, unknown>>);
  return sorted({ apiVersion: API_VERSION, kind: KIND, ...document });
}

function writeSection(
  section: Section,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(section).map(([name, entry]) => [
      name,
      isField(entry)
        ? entry.write(values[name] as never)
        : writeSection(entry, values[name] as Readonly<Record<string, unknown>>),
    ]),
  );
}

function sorted(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(document)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, isRecord(value) ? sorted(value) : value]),
  );
}

function isField(entry: Field<never> | Section): entry is Field<never> {
  return entry.kind === 'field';
}

const HEALTHZ_PORT = 10_256;
const METRICS_PORT = 10_249;

/**
 * Fills in what depends on other fields. Addresses of the servers follow the family of bindAddress (behaviour spec
 * 1.3). Without a mode it is nftables, where upstream takes iptables; who wrote the file meant its iptables section
 * then, so that is what counts. Node ports are served on the primary addresses only, unless told (spec 1.1).
 */
export function completed(configuration: Configuration): Configuration {
  const sixth = configuration.bindAddress.includes(':');
  const { healthzBindAddress, metricsBindAddress, iptables, nftables, nodePortAddresses } = configuration;
  const { masqueradeAll, syncPeriod, minSyncPeriod } = iptables;
  const mode = configuration.mode === '' ? 'nftables' : configuration.mode;
  return {
    ...configuration,
    mode,
    nftables:
      configuration.mode === '' ? { ...nftables, masqueradeAll, syncPeriod, minSyncPeriod } : nftables,
    nodePortAddresses:
      mode === 'nftables' && nodePortAddresses.length === 0 ? ['primary'] : nodePortAddresses,
    healthzBindAddress: withPort(healthzBindAddress || (sixth ? '::' : '0.0.0.0'), HEALTHZ_PORT),
    metricsBindAddress: withPort(metricsBindAddress || (sixth ? '::1' : '127.0.0.1'), METRICS_PORT),
  };
}

/** What all modes have, from the section of the mode in force (behaviour spec 1.3, mapping). */
export function modeSettings({ mode, iptables, ipvs, nftables }: Configuration): {
  readonly syncPeriod: DurationMs;
  readonly minSyncPeriod: DurationMs;
  readonly masqueradeAll: boolean;
} {
  const { syncPeriod, minSyncPeriod } = mode === 'ipvs' ? ipvs : mode === 'nftables' ? nftables : iptables;
  const { masqueradeAll } = mode === 'nftables' ? nftables : iptables;
  return { syncPeriod, minSyncPeriod, masqueradeAll };
}

/** Everything at its default, completed. */
export const STANDARD: Configuration = readConfiguration({}).configuration;
