// Whether two entries mean the same to a packet and to a reader.
import type { Cidr } from '../model/address.ts';
import type { Endpoint } from '../model/service-port.ts';
import type { Entry, ForwardingTable, LocalDetector, Route, TableSettings } from './forwarding-table.ts';

export function sameEntry(a: Entry, b: Entry): boolean {
  return (
    a.frontend.kind === b.frontend.kind &&
    a.masquerade === b.masquerade &&
    a.affinitySeconds === b.affinitySeconds &&
    a.healthCheckNodePort === b.healthCheckNodePort &&
    sameServicePort(a, b) &&
    sameCidrs(a.allowedSources, b.allowedSources) &&
    sameRoute(a.route, b.route)
  );
}

function sameServicePort({ servicePort: a }: Entry, { servicePort: b }: Entry): boolean {
  return (
    a.name === b.name &&
    a.namespace === b.namespace &&
    a.portName === b.portName &&
    a.family === b.family &&
    a.protocol === b.protocol
  );
}

function sameRoute(a: Route, b: Route): boolean {
  if (a.because !== b.because) return false;
  if (a.kind === 'balance')
    return b.kind === 'balance' && a.from === b.from && sameEndpoints(a.endpoints, b.endpoints);
  if (a.kind === 'by-source') {
    return b.kind === 'by-source' && sameEndpoints(a.all, b.all) && sameEndpoints(a.local, b.local);
  }
  return a.kind === b.kind;
}

/** Same endpoints in the same order, which planning makes canonical. */
export function sameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((endpoint, index) => {
    const other = b[index];
    return (
      other !== undefined &&
      endpoint.address === other.address &&
      endpoint.port === other.port &&
      endpoint.local === other.local
    );
  });
}

export function sameCidrs(a: readonly Cidr[] | undefined, b: readonly Cidr[] | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((cidr, index) => cidr.address === b[index]?.address && cidr.prefix === b[index]?.prefix);
}

function sameDetector(a: LocalDetector, b: LocalDetector): boolean {
  switch (a.kind) {
    case 'none':
      return b.kind === 'none';
    case 'cidr':
      return b.kind === 'cidr' && sameCidrs([a.cidr], [b.cidr]);
    case 'interface':
      return b.kind === 'interface' && a.name === b.name;
    case 'interface-prefix':
      return b.kind === 'interface-prefix' && a.prefix === b.prefix;
  }
}

function sameFamilySettings(a: TableSettings, b: TableSettings): boolean {
  if (a.masqueradeAll !== b.masqueradeAll || !sameDetector(a.localDetector, b.localDetector)) return false;
  if (!sameCidrs(a.serviceCidrs, b.serviceCidrs)) return false;
  const [one, other] = [a.nodePortAddresses, b.nodePortAddresses];
  if (one === 'all' || other === 'all') return one === other;
  return one.length === other.length && one.every((address, index) => address === other[index]);
}

export function sameSettings(a: ForwardingTable['settings'], b: ForwardingTable['settings']): boolean {
  return sameFamilySettings(a.IPv4, b.IPv4) && sameFamilySettings(a.IPv6, b.IPv6);
}
