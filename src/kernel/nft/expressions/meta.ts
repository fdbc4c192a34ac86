// What a packet carries beside its bytes: `meta l4proto`, `meta priority set …`.
import type { Register } from '../register.ts';
import { codecOf, type ExpressionCodec, named, registerField } from './codec.ts';

const NFTA_META_DREG = 1;
const NFTA_META_KEY = 2;
const NFTA_META_SREG = 3;

/** enum nft_meta_keys. Numbers are in host order, but `protocol`; names take 16 bytes. */
const META_KEYS = {
  len: 0,
  protocol: 1,
  /** skb->priority, a tc handle `major:minor`. */
  priority: 2,
  mark: 3,
  iif: 4,
  oif: 5,
  iifname: 6,
  oifname: 7,
  iiftype: 8,
  oiftype: 9,
  skuid: 10,
  skgid: 11,
  nftrace: 12,
  nfproto: 15,
  l4proto: 16,
  pkttype: 19,
  cpu: 20,
} as const;

export type MetaKey = keyof typeof META_KEYS;

/** Loads a property of the packet. One of a single byte fills a whole word, the rest of it zero. */
export interface MetaLoad {
  readonly kind: 'meta-load';
  readonly key: MetaKey;
  readonly to: Register;
}

export interface MetaSet {
  readonly kind: 'meta-set';
  readonly key: MetaKey;
  readonly from: Register;
}

export const metaLoad: ExpressionCodec<MetaLoad> = codecOf<MetaLoad>('meta', 'meta-load', {
  key: named(NFTA_META_KEY, META_KEYS),
  to: registerField(NFTA_META_DREG),
});

export const metaSet: ExpressionCodec<MetaSet> = codecOf<MetaSet>('meta', 'meta-set', {
  key: named(NFTA_META_KEY, META_KEYS),
  from: registerField(NFTA_META_SREG),
});
