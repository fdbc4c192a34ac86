// What looks wrong about a configuration on this node: said at start, and fatal where nothing could work
// (behaviour spec 1.6, sanity checks).
import { PointsmanError } from '../base/errors.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { type Cidr, type Family, familyOf } from '../model/address.ts';
import type { Node } from '../model/node.ts';

export interface SanityFacts {
  readonly families: readonly Family[];
  readonly node: Pick<Node, 'addresses' | 'podCidrs'> | undefined;
}

/** The family that counts when only one can: that of the bind address, else of the Node's first address. */
export function primaryFamily(
  { bindAddress }: Pick<ProxyConfig, 'bindAddress'>,
  node: Pick<Node, 'addresses'> | undefined,
): Family {
  return familyOf(bindAddress ?? node?.addresses[0] ?? '0.0.0.0');
}

/** Throws E_CONFIG for what can only be a mistake; returns what may be one, in words. */
export function checkSanity(config: ProxyConfig, { families, node }: SanityFacts): readonly string[] {
  const primary = primaryFamily(config, node);
  if (!families.includes(primary))
    throw new PointsmanError('E_CONFIG', `no support for primary IP family "${primary}"`, {
      hint: 'enable it in the kernel (net.ipv6.conf.all.disable_ipv6), or give a --bind-address of the other family',
    });
  const dual = families.length > 1;
  const warnings: string[] = [];
  const onlyOther = (cidrs: readonly Cidr[]): boolean =>
    cidrs.length > 0 && cidrs.every(({ family }) => family !== primary);
  const fatal = (what: string, hint: string): never => {
    throw new PointsmanError(
      'E_CONFIG',
      `kube-proxy configuration is incorrect: ${what} contain only IPs of the wrong family, and this node has ${families.join(' and ')}`,
      { hint },
    );
  };
  const { localDetection, nodePorts, source } = config;
  if (localDetection.kind === 'cluster-cidr') {
    if (localDetection.cidrs.length === 0)
      warnings.push(
        'detectLocalMode is ClusterCIDR, but clusterCIDR is not set: nothing that pods send to a ClusterIP is masqueraded, and pods count as external to externalTrafficPolicy Local',
      );
    if (onlyOther(localDetection.cidrs)) {
      if (!dual) fatal('cluster CIDRs', 'correct --cluster-cidr');
      warnings.push(`clusterCIDR is set, but has no ${primary} range`);
    } else if (dual && localDetection.cidrs.length === 1)
      warnings.push(`clusterCIDR has no range of the other family than ${primary}, on a dual-stack node`);
  }
  const podCidrs = node?.podCidrs ?? [];
  if (localDetection.kind === 'node-cidr' && onlyOther(podCidrs)) {
    if (!dual) fatal("the Node's podCIDRs", "correct the Node's podCIDRs, or the node's IP families");
    warnings.push(`detectLocalMode is NodeCIDR, but the Node has no ${primary} podCIDR`);
  }
  if (nodePorts.kind === 'cidrs') {
    const lacking = families.filter((family) => !nodePorts.cidrs.some((cidr) => cidr.family === family));
    for (const family of lacking)
      warnings.push(
        `nodePortAddresses has no ${family} CIDR: node ports are served on all ${family} addresses`,
      );
  }
  for (const [field, text] of [
    ['healthzBindAddress', config.healthz?.address],
    ['metricsBindAddress', config.metrics?.address],
  ] as const) {
    if (text === undefined || dual || families.includes(familyOf(text))) continue;
    warnings.push(`${field} ${text} is of a family that this node does not have`);
  }
  if (source.showHiddenMetricsForVersion !== '')
    warnings.push('showHiddenMetricsForVersion is set, and there are no hidden metrics');
  for (const kind of ['text', 'json'] as const) {
    const { splitStream, infoBufferSize } = source.logging.options[kind];
    if (splitStream || infoBufferSize !== '0')
      warnings.push(`logging.options.${kind} has no effect: every line goes to stderr at once`);
  }
  return warnings;
}
