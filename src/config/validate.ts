// Checks the configuration as a whole, with upstream's messages (behaviour spec 1.4).
import { type Cidr, parseAddress, parseCidr } from '../model/address.ts';
import { durationText } from './duration.ts';
import type { FlagValues } from './flag-values.ts';
import { parseHostPort, type SocketAddress, withPort } from './socket-address.ts';

/** Where the servers are to listen, as text; empty for none. */
export interface BindAddresses {
  readonly healthz: string;
  readonly metrics: string;
}

/** The deprecated port flags complete an address without port, and 0 takes it away (behaviour spec 1.2). */
export function bindAddresses(values: FlagValues): BindAddresses {
  const bound = (address: string, port: number): string => (port === 0 ? '' : withPort(address, port));
  return {
    healthz: bound(values.healthzBindAddress, values.healthzPort),
    metrics: bound(values.metricsBindAddress, values.metricsPort),
  };
}

const MODES: readonly string[] = ['iptables', 'ipvs', 'nftables'];
const DETECT_LOCAL_MODES: readonly string[] = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
];

/** Every message, of the form `KubeProxyConfiguration.Field: Invalid value: …: detail`. */
export function validate(values: FlagValues): readonly string[] {
  const problems: string[] = [];
  const invalid = (field: string, value: unknown, detail: string): void => {
    problems.push(`KubeProxyConfiguration.${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`);
  };
  const period = (field: string, ms: number, wrong: boolean, detail: string): void => {
    if (wrong) invalid(field, durationText(ms), detail);
  };

  if (values.oomScoreAdj < -1000 || values.oomScoreAdj > 1000)
    invalid(
      'KubeProxyLinuxConfiguration.OOMScoreAdj',
      values.oomScoreAdj,
      'must be within the range [-1000, 1000]',
    );
  if (values.proxyMode !== '' && !MODES.includes(values.proxyMode))
    invalid(
      'Mode.ProxyMode',
      values.proxyMode,
      'must be iptables, ipvs, nftables or blank (blank means nftables)',
    );
  if (values.kubeApiBurst < 0)
    invalid('ClientConnection.Burst', values.kubeApiBurst, 'must be greater than or equal to 0');
  const { configSyncPeriodMs, syncPeriodMs, minSyncPeriodMs } = values;
  period('ConfigSyncPeriod', configSyncPeriodMs, configSyncPeriodMs <= 0, 'must be greater than 0');
  period('SyncPeriod', syncPeriodMs, syncPeriodMs <= 0, 'must be greater than 0');
  period('MinSyncPeriod', minSyncPeriodMs, minSyncPeriodMs < 0, 'must be greater than or equal to 0');
  period(
    'SyncPeriod',
    minSyncPeriodMs,
    minSyncPeriodMs > syncPeriodMs,
    'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
  );
  const { healthz, metrics } = bindAddresses(values);
  for (const [field, text] of [
    ['HealthzBindAddress', healthz],
    ['MetricsBindAddress', metrics],
  ] as const) {
    if (field === 'HealthzBindAddress' && text === '') continue;
    const because = addressProblem(text);
    if (because !== undefined) invalid(field, text, because);
  }
  if (values.detectLocalMode !== '' && !DETECT_LOCAL_MODES.includes(values.detectLocalMode)) {
    const choices = [...DETECT_LOCAL_MODES, ''].map((mode) => JSON.stringify(mode)).join(', ');
    problems.push(
      `KubeProxyConfiguration.DetectLocalMode: Unsupported value: ${JSON.stringify(values.detectLocalMode)}: supported values: ${choices}`,
    );
  }
  checkClusterCidrs(clusterCidrTexts(values), invalid);
  if (values.loggingFormat !== 'text' && values.vmodule.length > 0)
    problems.push('logging.vmodule: Forbidden: Only supported for text log format');
  return problems;
}

/** The CIDRs as written; empty when there are none. */
export function clusterCidrTexts({ clusterCidr }: FlagValues): readonly string[] {
  return clusterCidr === '' ? [] : clusterCidr.split(',').map((text) => text.trim());
}

function checkClusterCidrs(
  texts: readonly string[],
  invalid: (field: string, value: unknown, detail: string) => void,
): void {
  const cidrs: Cidr[] = [];
  for (const [index, text] of texts.entries()) {
    const cidr = parseCidr(text);
    if (cidr !== undefined) cidrs.push(cidr);
    else
      invalid(
        `DetectLocalConfiguration.ClusterCIDRs[${index}]`,
        text,
        'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
      );
  }
  const [first, second] = cidrs;
  const pair = cidrs.length === 2 && first?.family !== second?.family;
  if (cidrs.length === texts.length && texts.length > 0 && cidrs.length !== 1 && !pair)
    invalid(
      'DetectLocalConfiguration.ClusterCIDRs',
      texts,
      'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48])',
    );
}

function addressProblem(text: string): string | undefined {
  const parsed = parseHostPort(text);
  if (parsed === undefined) return 'must be IP:port';
  if (parseAddress(parsed.host) === undefined) return 'must be a valid IP';
  return parsed.port === undefined ? 'must be a valid port' : undefined;
}

/** Reads a checked address; undefined for the empty one. */
export function socketAddressOf(text: string): SocketAddress | undefined {
  const parsed = parseHostPort(text);
  const address = parseAddress(parsed?.host ?? '');
  return parsed?.port === undefined || address === undefined ? undefined : { address, port: parsed.port };
}
