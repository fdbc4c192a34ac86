// What is known of the packet's connection: `ct status`, `ct original ip daddr`.
import type { Register } from '../register.ts';
import { codecOf, type ExpressionCodec, named, optional, registerField, u8 } from './codec.ts';

const NFTA_CT_DREG = 1;
const NFTA_CT_KEY = 2;
const NFTA_CT_DIRECTION = 3;

/** enum nft_ct_keys. */
const CT_KEYS = {
  state: 0,
  direction: 1,
  status: 2,
  mark: 3,
  l3proto: 7,
  src: 8,
  dst: 9,
  protocol: 10,
  proto_src: 11,
  proto_dst: 12,
  zone: 17,
  src_ip: 19,
  dst_ip: 20,
  src_ip6: 21,
  dst_ip6: 22,
  id: 23,
} as const;

/** enum ip_conntrack_dir. */
const CT_DIRECTIONS = { original: 0, reply: 1 } as const;

/** IPS_DST_NAT of linux/netfilter/nf_conntrack_common.h, a bit of `status`: the destination was rewritten. */
export const IPS_DST_NAT: number = 1 << 5;

export type CtKey = keyof typeof CT_KEYS;

/** Loads a property of the connection. A packet without connection does not match the rule. */
export interface CtLoad {
  readonly kind: 'ct';
  readonly key: CtKey;
  /** For addresses and ports: as the first packet had them, or as answers have them. */
  readonly direction?: keyof typeof CT_DIRECTIONS;
  readonly to: Register;
}

export const ctLoad: ExpressionCodec<CtLoad> = codecOf<CtLoad>('ct', 'ct', {
  key: named(NFTA_CT_KEY, CT_KEYS),
  direction: optional(named(NFTA_CT_DIRECTION, CT_DIRECTIONS, u8)),
  to: registerField(NFTA_CT_DREG),
});
