// Flags as a configuration: what they say when there is no file, and what they still say when there is one.
import { type Configuration, completed, STANDARD } from './configuration.ts';
import type { FlagValues } from './flag-values.ts';
import type { GivenFlag } from './parse-flags.ts';
import { withPort } from './socket-address.ts';

/** Flags alone (behaviour spec 1.2). A flag that sets the periods of iptables mode sets those of nftables mode too. */
export function configurationOf(values: FlagValues): Configuration {
  const periods = { syncPeriod: values.syncPeriodMs, minSyncPeriod: values.minSyncPeriodMs };
  const { masqueradeAll } = values;
  const configuration = completed({
    ...STANDARD,
    featureGates: values.featureGates,
    clientConnection: {
      kubeconfig: values.kubeconfig,
      acceptContentTypes: '',
      contentType: values.kubeApiContentType,
      qps: values.kubeApiQps,
      burst: values.kubeApiBurst,
    },
    logging: {
      format: values.loggingFormat,
      flushFrequency: values.flushFrequencyMs,
      verbosity: values.verbosity,
      vmodule: values.vmodule,
      options: optionsOf(values),
    },
    hostnameOverride: values.hostnameOverride,
    bindAddress: values.bindAddress,
    bindAddressHardFail: values.bindAddressHardFail,
    enableProfiling: values.profiling,
    showHiddenMetricsForVersion: values.showHiddenMetrics,
    mode: values.proxyMode,
    iptables: {
      ...periods,
      masqueradeAll,
      masqueradeBit: values.masqueradeBit,
      localhostNodePorts: values.localhostNodePorts,
    },
    nftables: { ...STANDARD.nftables, ...periods, masqueradeAll },
    ipvs: {
      syncPeriod: values.ipvsSyncPeriodMs,
      minSyncPeriod: values.ipvsMinSyncPeriodMs,
      scheduler: values.ipvsScheduler,
      excludeCIDRs: values.ipvsExcludeCidrs,
      strictARP: values.ipvsStrictArp,
      tcpTimeout: values.ipvsTcpTimeoutMs,
      tcpFinTimeout: values.ipvsTcpFinTimeoutMs,
      udpTimeout: values.ipvsUdpTimeoutMs,
    },
    detectLocalMode: values.detectLocalMode,
    detectLocal: {
      bridgeInterface: values.podBridgeInterface,
      interfaceNamePrefix: values.podInterfaceNamePrefix,
    },
    clusterCIDR: values.clusterCidr,
    nodePortAddresses: values.nodePortAddresses,
    oomScoreAdj: values.oomScoreAdj,
    conntrack: {
      maxPerCore: values.conntrackMaxPerCore,
      min: values.conntrackMin,
      tcpEstablishedTimeout: values.conntrackTcpEstablishedMs,
      tcpCloseWaitTimeout: values.conntrackTcpCloseWaitMs,
      tcpBeLiberal: values.conntrackTcpBeLiberal,
      udpTimeout: values.conntrackUdpMs,
      udpStreamTimeout: values.conntrackUdpStreamMs,
    },
    configSyncPeriod: values.configSyncPeriodMs,
  });
  return {
    ...configuration,
    healthzBindAddress: bound(values.healthzBindAddress, values.healthzPort),
    metricsBindAddress: bound(values.metricsBindAddress, values.metricsPort),
  };
}

function optionsOf(values: FlagValues): Configuration['logging']['options'] {
  return {
    text: { infoBufferSize: values.textInfoBufferSize, splitStream: values.textSplitStream },
    json: { infoBufferSize: values.jsonInfoBufferSize, splitStream: values.jsonSplitStream },
  };
}

/** The deprecated port flags complete an address without port, and 0 takes it away (behaviour spec 1.2). */
function bound(address: string, port: number): string {
  return port === 0 ? '' : withPort(address, port);
}

/** What flags still decide beside a file: the node's name, and how much is logged (behaviour spec 1.2). */
export function withFlags(
  file: Configuration,
  values: FlagValues,
  given: readonly GivenFlag[],
): Configuration {
  const names = new Set(given.map(({ name }) => name));
  const { logging } = file;
  const flags = optionsOf(values);
  const either = <T>(name: string, flag: T, field: T): T => (names.has(name) ? flag : field);
  const options = (kind: 'text' | 'json'): Configuration['logging']['options']['text'] => ({
    infoBufferSize: either(
      `log-${kind}-info-buffer-size`,
      flags[kind].infoBufferSize,
      logging.options[kind].infoBufferSize,
    ),
    splitStream: either(
      `log-${kind}-split-stream`,
      flags[kind].splitStream,
      logging.options[kind].splitStream,
    ),
  });
  return {
    ...file,
    hostnameOverride: either('hostname-override', values.hostnameOverride, file.hostnameOverride),
    logging: {
      format: either('logging-format', values.loggingFormat, logging.format),
      flushFrequency: either('log-flush-frequency', values.flushFrequencyMs, logging.flushFrequency),
      verbosity: either('v', values.verbosity, logging.verbosity),
      vmodule: [...values.vmodule, ...logging.vmodule],
      options: { text: options('text'), json: options('json') },
    },
  };
}
