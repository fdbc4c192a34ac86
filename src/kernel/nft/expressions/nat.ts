// Address translation: `dnat ip addr . port to …`, `masquerade`.
import { NFPROTO } from '../constants.ts';
import type { Register } from '../register.ts';
import { codecOf, type ExpressionCodec, type Field, named, optional, registerField } from './codec.ts';

const NFTA_NAT_TYPE = 1;
const NFTA_NAT_FAMILY = 2;
const NFTA_NAT_REG_ADDR_MIN = 3;
const NFTA_NAT_REG_ADDR_MAX = 4;
const NFTA_NAT_REG_PROTO_MIN = 5;
const NFTA_NAT_REG_PROTO_MAX = 6;
const NFTA_NAT_FLAGS = 7;
const NFTA_MASQ_FLAGS = 1;

/** enum nft_nat_types. */
const NAT_TYPES = { snat: 0, dnat: 1 } as const;
type NatFamily = 'ip' | 'ip6';
const NAT_FAMILIES: Readonly<Record<NatFamily, number>> = { ip: NFPROTO.ip, ip6: NFPROTO.ip6 };

// linux/netfilter/nf_nat.h. The first two only say that there are addresses and ports; the kernel adds them itself.
const NF_NAT_RANGE_MAP_IPS = 1 << 0;
const NF_NAT_RANGE_PROTO_SPECIFIED = 1 << 1;
const NF_NAT_RANGE_PROTO_RANDOM = 1 << 2;
const NF_NAT_RANGE_PERSISTENT = 1 << 3;
const NF_NAT_RANGE_PROTO_RANDOM_FULLY = 1 << 4;
const IMPLIED = NF_NAT_RANGE_MAP_IPS | NF_NAT_RANGE_PROTO_SPECIFIED;

/** How ports and addresses are chosen from a range; `none` leaves it to the kernel's default. */
export type NatChoice = 'none' | 'random' | 'persistent' | 'fully-random';

const NAT_CHOICES: Readonly<Record<NatChoice, number>> = {
  none: 0,
  random: NF_NAT_RANGE_PROTO_RANDOM,
  persistent: NF_NAT_RANGE_PERSISTENT,
  'fully-random': NF_NAT_RANGE_PROTO_RANDOM_FULLY,
};

/** Rewrites the connection's source or destination to the address and port in registers, and ends the rule. */
export interface Nat {
  readonly kind: 'nat';
  readonly type: keyof typeof NAT_TYPES;
  readonly family: NatFamily;
  readonly address?: Register;
  /** The end of a range that begins with `address`. */
  readonly lastAddress?: Register;
  readonly port?: Register;
  readonly lastPort?: Register;
  readonly choice: NatChoice;
}

/** Rewrites the source to the address of the outgoing interface. */
export interface Masquerade {
  readonly kind: 'masquerade';
  readonly choice: NatChoice;
}

const choiceField = (attribute: number): Field<NatChoice> => {
  const field = named(attribute, NAT_CHOICES);
  return {
    ...optional(field, 'none'),
    read(payload) {
      const flags = Buffer.alloc(4);
      flags.writeUInt32BE((payload.readUInt32BE() & ~IMPLIED) >>> 0);
      return field.read(flags);
    },
  };
};

const wire = codecOf<Nat>('nat', 'nat', {
  type: named(NFTA_NAT_TYPE, NAT_TYPES),
  family: named(NFTA_NAT_FAMILY, NAT_FAMILIES),
  address: optional(registerField(NFTA_NAT_REG_ADDR_MIN)),
  lastAddress: optional(registerField(NFTA_NAT_REG_ADDR_MAX)),
  port: optional(registerField(NFTA_NAT_REG_PROTO_MIN)),
  lastPort: optional(registerField(NFTA_NAT_REG_PROTO_MAX)),
  choice: choiceField(NFTA_NAT_FLAGS),
});

export const nat: ExpressionCodec<Nat> = {
  name: wire.name,
  encode: wire.encode,
  decode(attributes) {
    const decoded = wire.decode(attributes);
    if (decoded === undefined) return undefined;
    // The kernel always tells an end, which without a range is the beginning.
    const { lastAddress, lastPort, ...expression } = decoded;
    return {
      ...expression,
      ...(lastAddress !== undefined && lastAddress !== decoded.address && { lastAddress }),
      ...(lastPort !== undefined && lastPort !== decoded.port && { lastPort }),
    };
  },
};

export const masquerade: ExpressionCodec<Masquerade> = codecOf<Masquerade>('masq', 'masquerade', {
  choice: choiceField(NFTA_MASQ_FLAGS),
});
