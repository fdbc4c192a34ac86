// What the proxy is to do: flags, completed and checked.
import { PointsmanError } from '../base/errors.ts';
import { type Cidr, parseCidr } from '../model/address.ts';
import type { DurationMs } from './duration.ts';
import { DEFAULT_VALUES, type FlagValues, type LoggingValues } from './flag-values.ts';
import type { SocketAddress } from './socket-address.ts';
import { bindAddresses, clusterCidrTexts, socketAddressOf, validate } from './validate.ts';

export interface ProxyConfig {
  readonly kubeconfig: string;
  readonly master: string;
  /** Requests a second, 0 for no bound, and at once. */
  readonly kubeApi: { readonly qps: number; readonly burst: number };
  /** As in the cluster: trimmed, in lower case. */
  readonly nodeName: string;
  readonly mode: 'nftables';
  /** At most one a family. */
  readonly clusterCidrs: readonly Cidr[];
  readonly masqueradeAll: boolean;
  /** Undefined: no health server. */
  readonly healthz: SocketAddress | undefined;
  readonly metrics: SocketAddress | undefined;
  readonly bindAddressHardFail: boolean;
  readonly minSyncPeriodMs: DurationMs;
  readonly syncPeriodMs: DurationMs;
  readonly oomScoreAdj: number;
  readonly logging: LoggingValues;
}

/** `hostname` is what the host calls itself. Throws E_USAGE or E_CONFIG in one line. */
export function proxyConfig(values: FlagValues, hostname: string): ProxyConfig {
  const nodeName = nodeNameOf(values.hostnameOverride, hostname);
  const problems = validate(values);
  const [first] = problems;
  if (first !== undefined) {
    throw new PointsmanError('E_USAGE', problems.length === 1 ? first : `[${problems.join(', ')}]`);
  }
  if (values.proxyMode === 'iptables' || values.proxyMode === 'ipvs') {
    throw new PointsmanError('E_USAGE', `proxy mode ${values.proxyMode} is not there yet: only nftables is`, {
      hint: 'use --proxy-mode=nftables',
    });
  }
  if (values.detectLocalMode !== '' && values.detectLocalMode !== 'ClusterCIDR') {
    throw new PointsmanError(
      'E_USAGE',
      `detect local mode ${values.detectLocalMode} is not there yet: only ClusterCIDR is`,
      { hint: 'use --detect-local-mode=ClusterCIDR with --cluster-cidr' },
    );
  }
  const bind = bindAddresses(values);
  return {
    kubeconfig: values.kubeconfig,
    master: values.master,
    kubeApi: kubeApiRate(values),
    nodeName,
    mode: 'nftables',
    clusterCidrs: clusterCidrTexts(values).flatMap((text) => parseCidr(text) ?? []),
    masqueradeAll: values.masqueradeAll,
    healthz: socketAddressOf(bind.healthz),
    metrics: socketAddressOf(bind.metrics),
    bindAddressHardFail: values.bindAddressHardFail,
    minSyncPeriodMs: values.minSyncPeriodMs,
    syncPeriodMs: values.syncPeriodMs,
    oomScoreAdj: values.oomScoreAdj,
    logging: { format: values.loggingFormat, verbosity: values.verbosity, vmodule: values.vmodule },
  };
}

/** As upstream's client takes them: 0 is its default, a negative rate is none. */
function kubeApiRate({ kubeApiQps, kubeApiBurst }: FlagValues): ProxyConfig['kubeApi'] {
  return {
    qps: kubeApiQps === 0 ? DEFAULT_VALUES.kubeApiQps : Math.max(0, kubeApiQps),
    burst: kubeApiBurst === 0 ? DEFAULT_VALUES.kubeApiBurst : kubeApiBurst,
  };
}

/** Behaviour spec 1.6: the override, else the host's name; trimmed, in lower case. */
export function nodeNameOf(override: string, hostname: string): string {
  const name = (override === '' ? hostname : override).trim().toLowerCase();
  if (name === '')
    throw new PointsmanError(
      'E_USAGE',
      override === '' ? 'empty hostname is invalid' : 'empty hostname-override is invalid',
      { hint: "set --hostname-override to the node's name" },
    );
  return name;
}
