// Conditions on a register: a comparison, or a range.
import type { Register } from '../register.ts';
import { codecOf, type ExpressionCodec, named, registerField, valueField } from './codec.ts';

const NFTA_CMP_SREG = 1;
const NFTA_CMP_OP = 2;
const NFTA_CMP_DATA = 3;
const NFTA_RANGE_SREG = 1;
const NFTA_RANGE_OP = 2;
const NFTA_RANGE_FROM_DATA = 3;
const NFTA_RANGE_TO_DATA = 4;

/** enum nft_cmp_ops. */
const CMP_OPERATORS = { equal: 0, 'not-equal': 1, less: 2, 'at-most': 3, greater: 4, 'at-least': 5 } as const;
/** enum nft_range_ops. */
const RANGE_OPERATORS = { within: 0, outside: 1 } as const;

/** Ends the rule unless it holds. As many bytes are compared as `value` has, as if in network order. */
export interface Compare {
  readonly kind: 'compare';
  readonly from: Register;
  readonly operator: keyof typeof CMP_OPERATORS;
  readonly value: Uint8Array;
}

/** Ends the rule unless the register is within, or outside of, two values, both included. */
export interface Range {
  readonly kind: 'range';
  readonly from: Register;
  readonly operator: keyof typeof RANGE_OPERATORS;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

export const compare: ExpressionCodec<Compare> = codecOf<Compare>('cmp', 'compare', {
  from: registerField(NFTA_CMP_SREG),
  operator: named(NFTA_CMP_OP, CMP_OPERATORS),
  value: valueField(NFTA_CMP_DATA),
});

export const range: ExpressionCodec<Range> = codecOf<Range>('range', 'range', {
  from: registerField(NFTA_RANGE_SREG),
  operator: named(NFTA_RANGE_OP, RANGE_OPERATORS),
  first: valueField(NFTA_RANGE_FROM_DATA),
  last: valueField(NFTA_RANGE_TO_DATA),
});
