// `numgen random mod N offset O`.
import type { Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, named, optional, registerField } from './codec.ts';

const NFTA_NG_DREG = 1;
const NFTA_NG_MODULUS = 2;
const NFTA_NG_TYPE = 3;
const NFTA_NG_OFFSET = 4;

/** enum nft_ng_types. */
const NG_TYPES = { incremental: 0, random: 1 } as const;

/** Gives a number from `offset` to `offset + modulus - 1`, in host order. */
export interface NumberGenerator {
  readonly kind: 'number-generator';
  readonly mode: keyof typeof NG_TYPES;
  readonly modulus: number;
  readonly offset: number;
  readonly to: Register;
}

export const numberGenerator: ExpressionCodec<NumberGenerator> = codecOf<NumberGenerator>(
  'numgen',
  'number-generator',
  {
    mode: named(NFTA_NG_TYPE, NG_TYPES),
    modulus: be32(NFTA_NG_MODULUS),
    offset: optional(be32(NFTA_NG_OFFSET), 0),
    to: registerField(NFTA_NG_DREG),
  },
);
