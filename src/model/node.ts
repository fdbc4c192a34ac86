// The own Node as we use it (behaviour spec 1.6 and 2).
import { type Address, type Cidr, parseAddress, parseCidr } from './address.ts';
import { arrayAt, isObject, objectAt, stringAt } from './decode.ts';

export interface Node {
  readonly name: string;
  readonly uid: string;
  /** InternalIPs first, then ExternalIPs. */
  readonly addresses: readonly Address[];
  readonly podCidrs: readonly Cidr[];
  /** Label topology.kubernetes.io/zone, empty when absent. */
  readonly zone: string;
  /** It is being deleted: /healthz says not eligible. */
  readonly deleting: boolean;
  readonly taints: readonly string[];
}

/** Reads a v1 Node; undefined when it has no name. Unreadable parts are left out. */
export function decodeNode(object: unknown): Node | undefined {
  if (!isObject(object)) return undefined;
  const metadata = objectAt(object, 'metadata');
  const name = stringAt(metadata, 'name');
  if (!name) return undefined;
  const spec = objectAt(object, 'spec');
  const status = objectAt(object, 'status');
  return {
    name,
    uid: stringAt(metadata, 'uid') ?? '',
    addresses: ['InternalIP', 'ExternalIP'].flatMap((type) =>
      arrayAt(status, 'addresses').flatMap((item) => {
        if (!isObject(item) || item.type !== type) return [];
        const address = parseAddress(stringAt(item, 'address') ?? '');
        return address === undefined ? [] : [address];
      }),
    ),
    podCidrs: arrayAt(spec, 'podCIDRs').flatMap((item) => {
      const cidr = typeof item === 'string' ? parseCidr(item) : undefined;
      return cidr === undefined ? [] : [cidr];
    }),
    zone: stringAt(objectAt(metadata, 'labels'), 'topology.kubernetes.io/zone') ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    taints: arrayAt(spec, 'taints').flatMap((item) =>
      isObject(item) && typeof item.key === 'string' ? [item.key] : [],
    ),
  };
}
