// `jhash … mod N seed S`.
import type { Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, named, optional, registerField } from './codec.ts';

const NFTA_HASH_SREG = 1;
const NFTA_HASH_DREG = 2;
const NFTA_HASH_LEN = 3;
const NFTA_HASH_MODULUS = 4;
const NFTA_HASH_SEED = 5;
const NFTA_HASH_OFFSET = 6;
const NFTA_HASH_TYPE = 7;

/** enum nft_hash_types. */
const HASH_TYPES = { jenkins: 0 } as const;

/** Gives a number from `offset` to `offset + modulus - 1`, in host order. */
export interface Hash {
  readonly kind: 'hash';
  readonly type: keyof typeof HASH_TYPES;
  readonly from: Register;
  /** In bytes. */
  readonly length: number;
  readonly modulus: number;
  /** Without it the kernel takes one of its own. */
  readonly seed?: number;
  readonly offset: number;
  readonly to: Register;
}

export const hash: ExpressionCodec<Hash> = codecOf<Hash>('hash', 'hash', {
  type: optional(named(NFTA_HASH_TYPE, HASH_TYPES), 'jenkins'),
  from: registerField(NFTA_HASH_SREG),
  length: be32(NFTA_HASH_LEN),
  modulus: be32(NFTA_HASH_MODULUS),
  seed: optional(be32(NFTA_HASH_SEED)),
  offset: optional(be32(NFTA_HASH_OFFSET), 0),
  to: registerField(NFTA_HASH_DREG),
});
