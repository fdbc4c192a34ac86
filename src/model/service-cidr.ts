// Ranges of cluster IPs (networking.k8s.io/v1 ServiceCIDR; behaviour spec 2), and the union of several.
import { type Cidr, cidrCovers, cidrText, parseCidr } from './address.ts';
import { arrayAt, isObject, objectAt } from './decode.ts';

/** Reads spec.cidrs of a ServiceCIDR; undefined when it is no object. Unreadable ranges are left out. */
export function decodeServiceCidr(object: unknown): readonly Cidr[] | undefined {
  if (!isObject(object)) return undefined;
  return arrayAt(objectAt(object, 'spec'), 'cidrs').flatMap((item) => {
    const cidr = typeof item === 'string' ? parseCidr(item) : undefined;
    return cidr === undefined ? [] : [cidr];
  });
}

/** Every range once, in one order, none inside another: the same union of the same ranges is deep-equal. */
export function cidrUnion(cidrs: Iterable<Cidr>): readonly Cidr[] {
  const byText = new Map([...cidrs].map((cidr) => [cidrText(cidr), cidr]));
  const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cidr]) => cidr);
  return sorted.filter((cidr) => !sorted.some((other) => other !== cidr && cidrCovers(other, cidr)));
}
