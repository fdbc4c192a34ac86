// Constants: a value for a register, or a verdict, which ends the rule.
import type { Verdict } from '../commands.ts';
import { readData, writeData } from '../data.ts';
import { NFT_REG_VERDICT, type Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, type Field, registerField, valueField } from './codec.ts';

const NFTA_IMMEDIATE_DREG = 1;
const NFTA_IMMEDIATE_DATA = 2;

export interface Immediate {
  readonly kind: 'immediate';
  readonly to: Register;
  readonly value: Uint8Array;
}

export interface VerdictStatement {
  readonly kind: 'verdict';
  readonly verdict: Verdict;
}

export const immediate: ExpressionCodec<Immediate> = codecOf<Immediate>('immediate', 'immediate', {
  to: registerField(NFTA_IMMEDIATE_DREG),
  value: valueField(NFTA_IMMEDIATE_DATA),
});

const verdictField: Field<Verdict> = {
  attribute: NFTA_IMMEDIATE_DATA,
  write: (writer, verdict) => writeData(writer, NFTA_IMMEDIATE_DATA, verdict),
  read(payload) {
    const data = readData(payload);
    return data instanceof Uint8Array ? undefined : data;
  },
};

const wire = codecOf<VerdictStatement & { readonly register: number }>('immediate', 'verdict', {
  register: be32(NFTA_IMMEDIATE_DREG),
  verdict: verdictField,
});

export const verdict: ExpressionCodec<VerdictStatement> = {
  name: wire.name,
  encode: (writer, expression, sets) =>
    wire.encode(writer, { ...expression, register: NFT_REG_VERDICT }, sets),
  decode(attributes) {
    const decoded = wire.decode(attributes);
    if (decoded?.register !== NFT_REG_VERDICT) return undefined;
    return { kind: 'verdict', verdict: decoded.verdict };
  },
};
