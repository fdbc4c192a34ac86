// Removes what kube-proxy's ipvs mode left beside iptables rules: virtual servers, sets, and the device kube-ipvs0.
// The order matters: the device and the sets tell which virtual servers are kube-proxy's, so they go last.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../../kernel/direct.ts';
import { openIpvs } from '../../kernel/genl/ipvs.ts';
import { destroySet, listElements, listSetNames } from '../../kernel/ipset/ipset.ts';
import { addressesIn, addressesRequest } from '../../kernel/route/addresses.ts';
import { findLink, type Link, removeLink } from '../../kernel/route/links.ts';
import { ESRCH } from '../../kernel/sys/errno.ts';
import { asPointsmanError } from './failures.ts';
import { type KubeSet, kubeSetsOf } from './kube-sets.ts';
import { counted, type ReportInWork } from './report.ts';
import { type Marks, nodePortKey, type Sorted, sortVirtualServers } from './virtual-servers.ts';

const DEVICE = 'kube-ipvs0';

export interface IpvsTools {
  readonly kernel: Pick<DirectKernel, 'dump' | 'request'>;
  /** Whether a file is there. */
  readonly exists: (path: string) => boolean;
}

/** What is not in the kernel (ip_vs, ip_set) is not loaded for it, and has left nothing. */
export function removeIpvsLeftovers(tools: IpvsTools, report: ReportInWork): void {
  const { kernel } = tools;
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      report.failures.push({ what, error: asPointsmanError(error) });
      return undefined;
    }
  };
  const device = attempt(`look for the device ${DEVICE}`, () => findLink(kernel, DEVICE));
  const sets = attempt('list the sets of ipset', () => kubeSets(tools)) ?? [];
  const gone = attempt('remove virtual servers', () => removeServers(tools, device, sets, report));
  if (gone !== true) {
    const because = "it tells which virtual servers are kube-proxy's, and they could not be removed";
    if (device !== undefined) report.left.push({ what: `device ${DEVICE}`, because });
    if (sets.length > 0) report.left.push({ what: `${counted(sets.length, 'set')} of ipset`, because });
    return;
  }
  if (device?.kind === 'dummy') {
    attempt(`remove the device ${DEVICE}`, () => {
      removeLink(kernel, device);
      report.removed.push(`device ${DEVICE}`);
    });
  } else if (device !== undefined)
    report.left.push({
      what: `device ${DEVICE}`,
      because: `it is no dummy device but ${device.kind ?? 'another'}`,
    });
  removeSets(kernel, sets, report);
}

function kubeSets({ kernel, exists }: IpvsTools): readonly KubeSet[] {
  // /sys is not everywhere; without it the kernel is asked, which may load the module.
  if (exists('/sys/module') && !exists('/sys/module/ip_set')) return [];
  return kubeSetsOf(listSetNames(kernel));
}

/** True when none of kube-proxy's is left. */
function removeServers(
  { kernel, exists }: IpvsTools,
  device: Link | undefined,
  sets: readonly KubeSet[],
  report: ReportInWork,
): boolean {
  // The file is there as long as the module is; asking by netlink would load it.
  const ipvs = exists('/proc/net/ip_vs') ? openIpvs(kernel) : undefined;
  const servers = ipvs?.list() ?? [];
  if (ipvs === undefined || servers.length === 0) return true;
  const { own, foreign }: Sorted = sortVirtualServers(servers, readMarks(kernel, device, sets));
  let failure: unknown;
  let removed = 0;
  for (const server of own) {
    try {
      ipvs.remove(server);
      removed += 1;
    } catch (error) {
      if (!isGone(error)) failure ??= error;
    }
  }
  if (removed > 0) report.removed.push(`${counted(removed, 'virtual server')} of IPVS`);
  if (foreign.length > 0)
    report.left.push({
      what: `${counted(foreign.length, 'virtual server')} of IPVS`,
      because: `not kube-proxy's by their addresses, which are not on ${DEVICE}, and by their ports, which are in no set of node ports`,
    });
  if (failure !== undefined) throw failure;
  return true;
}

const isGone = (error: unknown): boolean => error instanceof PointsmanError && error.facts.errno === ESRCH;

function readMarks(kernel: IpvsTools['kernel'], device: Link | undefined, sets: readonly KubeSet[]): Marks {
  const addresses = kernel.dump('route', addressesRequest()).flatMap((one) => [...addressesIn(one)]);
  const nodePorts = sets.flatMap(({ name, nodePortsOf }) =>
    nodePortsOf === undefined
      ? []
      : listElements(kernel, name).map(({ port }) =>
          nodePortKey(nodePortsOf.family, nodePortsOf.protocol, port),
        ),
  );
  const onDevice = (index: number): boolean => index === device?.index;
  return {
    serviceAddresses: addresses.filter((one) => onDevice(one.interfaceIndex)).map(({ address }) => address),
    nodeAddresses: addresses.filter((one) => !onDevice(one.interfaceIndex)).map(({ address }) => address),
    nodePorts: new Set(nodePorts),
  };
}

function removeSets(kernel: IpvsTools['kernel'], sets: readonly KubeSet[], report: ReportInWork): void {
  let removed = 0;
  for (const { name } of sets) {
    try {
      if (destroySet(kernel, name) === 'destroyed') removed += 1;
      else report.left.push({ what: `set ${name}`, because: 'a rule still uses it' });
    } catch (error) {
      report.failures.push({ what: `destroy the set ${name}`, error: asPointsmanError(error) });
    }
  }
  if (removed > 0) report.removed.push(`${counted(removed, 'set')} of ipset`);
}
