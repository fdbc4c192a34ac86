// Packets that write into sets: `update @set { … timeout … : … }`.
import type { Register } from '../register.ts';
import { be64, codecOf, type ExpressionCodec, flag, named, optional, registerField, text } from './codec.ts';

const NFTA_DYNSET_SET_NAME = 1;
const NFTA_DYNSET_OP = 3;
const NFTA_DYNSET_SREG_KEY = 4;
const NFTA_DYNSET_SREG_DATA = 5;
const NFTA_DYNSET_TIMEOUT = 6;
const NFTA_DYNSET_FLAGS = 9;
const NFT_DYNSET_F_INV = 1 << 0;

/** enum nft_dynset_ops. */
const DYNSET_OPERATIONS = { add: 0, update: 1, delete: 2 } as const;

/**
 * Adds an element, keeps it and renews its time-out (`update` only), or deletes it. Data of an element that is there
 * stays. If that fails (the set is full, no such element), the rule ends; with `inverted`, if it does not.
 */
export interface DynamicSet {
  readonly kind: 'dynamic-set';
  readonly operation: keyof typeof DYNSET_OPERATIONS;
  readonly set: string;
  readonly key: Register;
  /** In a map. The kernel wants it for a delete too, though only the key counts. */
  readonly data?: Register;
  /** 0 means the set's default. */
  readonly timeoutMs: number;
  readonly inverted: boolean;
}

export const dynamicSet: ExpressionCodec<DynamicSet> = codecOf<DynamicSet>('dynset', 'dynamic-set', {
  operation: named(NFTA_DYNSET_OP, DYNSET_OPERATIONS),
  set: text(NFTA_DYNSET_SET_NAME),
  key: registerField(NFTA_DYNSET_SREG_KEY),
  data: optional(registerField(NFTA_DYNSET_SREG_DATA)),
  timeoutMs: optional(be64(NFTA_DYNSET_TIMEOUT), 0),
  inverted: flag(NFTA_DYNSET_FLAGS, NFT_DYNSET_F_INV),
});
