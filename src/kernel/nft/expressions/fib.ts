// What the routing tables say of an address: `fib daddr type`.
import type { Register } from '../register.ts';
import { codecOf, type ExpressionCodec, named, registerField } from './codec.ts';

const NFTA_FIB_DREG = 1;
const NFTA_FIB_RESULT = 2;
const NFTA_FIB_FLAGS = 3;

/** enum nft_fib_result. */
const FIB_RESULTS = { type: 3 } as const;
/** NFTA_FIB_F_SADDR and NFTA_FIB_F_DADDR; combinations with interfaces and marks have no words here. */
const FIB_ADDRESSES = { saddr: 1, daddr: 2 } as const;

/** RTN_LOCAL of linux/rtnetlink.h, a result: the address is one of this machine's, loopback included. */
export const RTN_LOCAL = 2;

/** Loads the type of an address in host order. */
export interface Fib {
  readonly kind: 'fib';
  readonly address: keyof typeof FIB_ADDRESSES;
  readonly result: keyof typeof FIB_RESULTS;
  readonly to: Register;
}

export const fib: ExpressionCodec<Fib> = codecOf<Fib>('fib', 'fib', {
  address: named(NFTA_FIB_FLAGS, FIB_ADDRESSES),
  result: named(NFTA_FIB_RESULT, FIB_RESULTS),
  to: registerField(NFTA_FIB_DREG),
});
