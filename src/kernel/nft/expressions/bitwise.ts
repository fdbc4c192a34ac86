// `(register & mask) ^ xor`, which is how prefixes and flags are tested.
import type { Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, named, optional, registerField, valueField } from './codec.ts';

const NFTA_BITWISE_SREG = 1;
const NFTA_BITWISE_DREG = 2;
const NFTA_BITWISE_LEN = 3;
const NFTA_BITWISE_MASK = 4;
const NFTA_BITWISE_XOR = 5;
const NFTA_BITWISE_OP = 6;

/** enum nft_bitwise_ops; the kernel has more of them since 5.6, and none before. */
const BITWISE_OPERATIONS = { 'mask-xor': 0 } as const;

export interface Bitwise {
  readonly kind: 'bitwise';
  readonly from: Register;
  readonly to: Register;
  /** `mask` and `xor` have the length of the value. */
  readonly mask: Uint8Array;
  readonly xor: Uint8Array;
}

/** With the length and the operation, which follow from the rest. */
interface BitwiseOnTheWire extends Bitwise {
  readonly length: number;
  readonly operation: keyof typeof BITWISE_OPERATIONS;
}

const wire = codecOf<BitwiseOnTheWire>('bitwise', 'bitwise', {
  from: registerField(NFTA_BITWISE_SREG),
  to: registerField(NFTA_BITWISE_DREG),
  length: be32(NFTA_BITWISE_LEN),
  operation: optional(named(NFTA_BITWISE_OP, BITWISE_OPERATIONS), 'mask-xor'),
  mask: valueField(NFTA_BITWISE_MASK),
  xor: valueField(NFTA_BITWISE_XOR),
});

export const bitwise: ExpressionCodec<Bitwise> = {
  name: wire.name,
  encode: (writer, expression, sets) =>
    wire.encode(writer, { ...expression, length: expression.mask.length, operation: 'mask-xor' }, sets),
  decode(attributes) {
    const decoded = wire.decode(attributes);
    if (decoded === undefined) return undefined;
    const { length: _, operation: __, ...expression } = decoded;
    return expression;
  },
};
