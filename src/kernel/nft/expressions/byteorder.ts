// Swaps the bytes of numbers in a register between host and network order.
import type { Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, named, registerField } from './codec.ts';

const NFTA_BYTEORDER_SREG = 1;
const NFTA_BYTEORDER_DREG = 2;
const NFTA_BYTEORDER_OP = 3;
const NFTA_BYTEORDER_LEN = 4;
const NFTA_BYTEORDER_SIZE = 5;

/** enum nft_byteorder_ops. */
const BYTEORDER_OPERATIONS = { 'to-host': 0, 'to-network': 1 } as const;

export interface ByteOrder {
  readonly kind: 'byteorder';
  readonly operation: keyof typeof BYTEORDER_OPERATIONS;
  readonly from: Register;
  readonly to: Register;
  /** Bytes in all. */
  readonly length: number;
  /** Bytes of one number: 2, 4 or 8. */
  readonly size: number;
}

export const byteOrder: ExpressionCodec<ByteOrder> = codecOf<ByteOrder>('byteorder', 'byteorder', {
  operation: named(NFTA_BYTEORDER_OP, BYTEORDER_OPERATIONS),
  from: registerField(NFTA_BYTEORDER_SREG),
  to: registerField(NFTA_BYTEORDER_DREG),
  length: be32(NFTA_BYTEORDER_LEN),
  size: be32(NFTA_BYTEORDER_SIZE),
});
