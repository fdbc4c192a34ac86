// Checks the configuration as a whole, with upstream's messages (behaviour spec 1.4).
import { type Cidr, parseAddress, parseCidr } from '../model/address.ts';
import { type Configuration, modeSettings } from './configuration.ts';
import { durationText } from './duration.ts';
import { gateOn, gateProblems } from './feature-gates.ts';
import { parseHostPort, type SocketAddress } from './socket-address.ts';

const MODES: readonly string[] = ['iptables', 'ipvs', 'nftables'];
const DETECT_LOCAL_MODES: readonly string[] = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
];

type Invalid = (field: string, value: unknown, detail: string) => void;

const AT_LEAST_0 = 'must be greater than or equal to 0';
const VALID_CIDR = 'must be a valid CIDR';
/** The version before the one we are a drop-in for. */
const PREVIOUS_MINOR = '1.35';

/** Every message, of the form `KubeProxyConfiguration.Field: Invalid value: …: detail`. */
export function validate(configuration: Configuration): readonly string[] {
  const problems: string[] = [];
  const invalid: Invalid = (field, value, detail) => {
    problems.push(`KubeProxyConfiguration.${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`);
  };
  for (const problem of gateProblems(configuration.featureGates))
    invalid('featureGates', configuration.featureGates, problem);
  checkModes(configuration, invalid);
  checkConntrack(configuration.conntrack, invalid);
  const { oomScoreAdj, bindAddress } = configuration;
  if (oomScoreAdj < -1000 || oomScoreAdj > 1000)
    invalid('KubeProxyLinuxConfiguration.OOMScoreAdj', oomScoreAdj, 'must be within the range [-1000, 1000]');
  if (configuration.clientConnection.burst < 0)
    invalid('ClientConnection.Burst', configuration.clientConnection.burst, AT_LEAST_0);
  checkPeriods(configuration, invalid);
  if (bindAddress !== '' && parseAddress(bindAddress) === undefined)
    invalid('BindAddress', bindAddress, 'not a valid textual representation of an IP address');
  for (const [field, text] of [
    ['HealthzBindAddress', configuration.healthzBindAddress],
    ['MetricsBindAddress', configuration.metricsBindAddress],
  ] as const) {
    if (field === 'HealthzBindAddress' && text === '') continue;
    const because = addressProblem(text);
    if (because !== undefined) invalid(field, text, because);
  }
  checkNodePortAddresses(configuration.nodePortAddresses, invalid);
  const hidden = configuration.showHiddenMetricsForVersion;
  if (hidden !== '' && hidden !== PREVIOUS_MINOR)
    invalid('ShowHiddenMetricsForVersion', hidden, `must be empty or the previous minor ${PREVIOUS_MINOR}`);
  const unsupported = checkLocalDetection(configuration, invalid);
  if (unsupported !== undefined) problems.push(unsupported);
  return problems;
}

/** Logging is checked first, and by other words (behaviour spec 1.1, step 3). */
export function loggingProblem({ logging, featureGates }: Configuration): string | undefined {
  if (logging.format !== 'text' && logging.format !== 'json')
    return `logging.format: Invalid value: ${JSON.stringify(logging.format)}: Unsupported log format`;
  if (logging.flushFrequency <= 0)
    return `logging.flushFrequency: Invalid value: ${JSON.stringify(durationText(logging.flushFrequency))}: Must be greater than zero`;
  if (logging.format !== 'text' && logging.vmodule.length > 0)
    return 'logging.vmodule: Forbidden: Only supported for text log format';
  if (gateOn(featureGates, 'LoggingAlphaOptions')) return undefined;
  for (const kind of ['text', 'json'] as const) {
    const { splitStream, infoBufferSize } = logging.options[kind];
    const changed = splitStream ? 'splitStream' : infoBufferSize !== '0' ? 'infoBufferSize' : undefined;
    if (changed !== undefined)
      return `logging.options.${kind}.${changed}: Forbidden: Feature LoggingAlphaOptions is disabled`;
  }
  return undefined;
}

function checkModes({ mode, iptables, ipvs, nftables }: Configuration, invalid: Invalid): void {
  const bit = (section: string, value: number): void => {
    if (value < 0 || value > 31)
      invalid(`${section}.MasqueradeBit`, value, 'must be within the range [0, 31]');
  };
  bit('KubeProxyIPTablesConfiguration', iptables.masqueradeBit);
  if (mode === 'nftables') bit('KubeProxyNFTablesConfiguration', nftables.masqueradeBit);
  if (mode === 'ipvs') {
    for (const [field, ms] of [
      ['TCPTimeout', ipvs.tcpTimeout],
      ['TCPFinTimeout', ipvs.tcpFinTimeout],
      ['UDPTimeout', ipvs.udpTimeout],
    ] as const)
      if (ms < 0) invalid(`KubeProxyIPVSConfiguration.${field}`, durationText(ms), AT_LEAST_0);
    for (const [index, text] of ipvs.excludeCIDRs.entries())
      if (parseCidr(text) === undefined)
        invalid(`KubeProxyIPVSConfiguration.ExcludeCidrs[${index}]`, text, VALID_CIDR);
  }
  if (mode !== '' && !MODES.includes(mode))
    invalid('Mode.ProxyMode', mode, 'must be iptables, ipvs, nftables or blank (blank means nftables)');
}

function checkConntrack(conntrack: Configuration['conntrack'], invalid: Invalid): void {
  const at = 'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration';
  if (conntrack.maxPerCore < 0) invalid(`${at}.MaxPerCore`, conntrack.maxPerCore, AT_LEAST_0);
  if (conntrack.min < 0) invalid(`${at}.Min`, conntrack.min, AT_LEAST_0);
  for (const [field, ms] of [
    ['TCPEstablishedTimeout', conntrack.tcpEstablishedTimeout],
    ['TCPCloseWaitTimeout', conntrack.tcpCloseWaitTimeout],
    ['UDPTimeout', conntrack.udpTimeout],
    ['UDPStreamTimeout', conntrack.udpStreamTimeout],
  ] as const)
    if (ms < 0) invalid(`${at}.${field}`, durationText(ms), AT_LEAST_0);
}

function checkPeriods(configuration: Configuration, invalid: Invalid): void {
  const { syncPeriod, minSyncPeriod } = modeSettings(configuration);
  const period = (field: string, ms: number, wrong: boolean, detail: string): void => {
    if (wrong) invalid(field, durationText(ms), detail);
  };
  const { configSyncPeriod } = configuration;
  period('ConfigSyncPeriod', configSyncPeriod, configSyncPeriod <= 0, 'must be greater than 0');
  period('SyncPeriod', syncPeriod, syncPeriod <= 0, 'must be greater than 0');
  period('MinSyncPeriod', minSyncPeriod, minSyncPeriod < 0, AT_LEAST_0);
  period(
    'SyncPeriod',
    minSyncPeriod,
    minSyncPeriod > syncPeriod,
    'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
  );
}

function checkNodePortAddresses(texts: readonly string[], invalid: Invalid): void {
  for (const [index, text] of texts.entries()) {
    const field = `NodePortAddresses[${index}]`;
    if (text === 'primary') {
      if (texts.length > 1) invalid(field, text, "can't use both 'primary' and CIDRs");
    } else if (parseCidr(text) === undefined) invalid(field, text, VALID_CIDR);
  }
}

/** Returns the message about a mode that is none. */
function checkLocalDetection(configuration: Configuration, invalid: Invalid): string | undefined {
  const { detectLocalMode, detectLocal } = configuration;
  switch (detectLocalMode) {
    case 'ClusterCIDR':
    case '':
      checkClusterCidrs(clusterCidrTexts(configuration), invalid);
      return undefined;
    case 'NodeCIDR':
      return undefined;
    case 'BridgeInterface':
      if (detectLocal.bridgeInterface === '')
        invalid('DetectLocalConfiguration.InterfaceName', '', 'must not be empty');
      return undefined;
    case 'InterfaceNamePrefix':
      if (detectLocal.interfaceNamePrefix === '')
        invalid('DetectLocalConfiguration.InterfacePrefix', '', 'must not be empty');
      return undefined;
    default: {
      const choices = [...DETECT_LOCAL_MODES, ''].map((mode) => JSON.stringify(mode)).join(', ');
      return `KubeProxyConfiguration.DetectLocalMode: Unsupported value: ${JSON.stringify(detectLocalMode)}: supported values: ${choices}`;
    }
  }
}

/** The CIDRs as written; empty when there are none. */
export function clusterCidrTexts({ clusterCIDR }: Configuration): readonly string[] {
  return clusterCIDR === '' ? [] : clusterCIDR.split(',').map((text) => text.trim());
}

function checkClusterCidrs(texts: readonly string[], invalid: Invalid): void {
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
