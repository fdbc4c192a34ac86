// Looks a register up in a set or map: `@set`, `map @map`, `vmap @map`.
import { stringOf } from '../../netlink/reader.ts';
import type { AnonymousSet } from '../commands.ts';
import { ANONYMOUS_NAME } from '../constants.ts';
import { NFT_REG_VERDICT, type Register, registerNumber, registerOfNumber } from '../register.ts';
import { codecOf, type ExpressionCodec, type Field, flag, optional, registerField } from './codec.ts';

const NFTA_LOOKUP_SET = 1;
const NFTA_LOOKUP_SREG = 2;
const NFTA_LOOKUP_DREG = 3;
const NFTA_LOOKUP_SET_ID = 4;
const NFTA_LOOKUP_FLAGS = 5;
const NFT_LOOKUP_F_INV = 1 << 0;

/**
 * Ends the rule unless the key is in the set (with `inverted`: unless it is not). From a map, the value goes to a
 * register, or is the rule's verdict.
 */
export interface Lookup {
  readonly kind: 'lookup';
  readonly from: Register;
  /** A name, or a set of the rule's own, which comes and goes with it. */
  readonly set: string | AnonymousSet;
  readonly to?: Register | 'verdict';
  readonly inverted: boolean;
}

const set: Field<string | AnonymousSet> = {
  attribute: NFTA_LOOKUP_SET,
  write(writer, value, sets) {
    writer.string(NFTA_LOOKUP_SET, typeof value === 'string' ? value : ANONYMOUS_NAME);
    if (typeof value !== 'string') writer.be32(NFTA_LOOKUP_SET_ID, sets.get(value) ?? 0);
  },
  read: stringOf,
};

const destination: Field<Register | 'verdict'> = {
  attribute: NFTA_LOOKUP_DREG,
  write: (writer, to) =>
    writer.be32(NFTA_LOOKUP_DREG, to === 'verdict' ? NFT_REG_VERDICT : registerNumber(to)),
  read(payload) {
    const number = payload.readUInt32BE();
    return number === NFT_REG_VERDICT ? 'verdict' : registerOfNumber(number);
  },
};

export const lookup: ExpressionCodec<Lookup> = codecOf<Lookup>('lookup', 'lookup', {
  from: registerField(NFTA_LOOKUP_SREG),
  set,
  to: optional(destination),
  inverted: flag(NFTA_LOOKUP_FLAGS, NFT_LOOKUP_F_INV),
});
