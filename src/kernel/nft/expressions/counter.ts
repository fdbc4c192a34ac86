// `counter`, `limit rate …`.
import { be32, be64, codecOf, type ExpressionCodec, flag, named, optional } from './codec.ts';

const NFTA_COUNTER_BYTES = 1;
const NFTA_COUNTER_PACKETS = 2;
const NFTA_LIMIT_RATE = 1;
const NFTA_LIMIT_UNIT = 2;
const NFTA_LIMIT_BURST = 3;
const NFTA_LIMIT_TYPE = 4;
const NFTA_LIMIT_FLAGS = 5;
const NFT_LIMIT_F_INV = 1 << 0;

/** enum nft_limit_type. */
const LIMIT_TYPES = { packets: 0, bytes: 1 } as const;

/** Counts the packets that come this far. */
export interface Counter {
  readonly kind: 'counter';
  readonly packets: number;
  readonly bytes: number;
}

/** Ends the rule for packets beyond a rate (with `inverted`: within it). */
export interface Limit {
  readonly kind: 'limit';
  readonly of: keyof typeof LIMIT_TYPES;
  readonly rate: number;
  readonly perSeconds: number;
  readonly burst: number;
  readonly inverted: boolean;
}

export const counter: ExpressionCodec<Counter> = codecOf<Counter>('counter', 'counter', {
  packets: optional(be64(NFTA_COUNTER_PACKETS), 0),
  bytes: optional(be64(NFTA_COUNTER_BYTES), 0),
});

export const limit: ExpressionCodec<Limit> = codecOf<Limit>('limit', 'limit', {
  of: named(NFTA_LIMIT_TYPE, LIMIT_TYPES),
  rate: be64(NFTA_LIMIT_RATE),
  perSeconds: be64(NFTA_LIMIT_UNIT),
  burst: optional(be32(NFTA_LIMIT_BURST), 0),
  inverted: flag(NFTA_LIMIT_FLAGS, NFT_LIMIT_F_INV),
});
