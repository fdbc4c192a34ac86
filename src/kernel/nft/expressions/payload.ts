// Bytes of the packet: `ip daddr`, `th dport`.
import type { Register } from '../register.ts';
import { be32, codecOf, type ExpressionCodec, named, registerField } from './codec.ts';

const NFTA_PAYLOAD_DREG = 1;
const NFTA_PAYLOAD_BASE = 2;
const NFTA_PAYLOAD_OFFSET = 3;
const NFTA_PAYLOAD_LEN = 4;

/** enum nft_payload_bases. */
const PAYLOAD_BASES = { link: 0, network: 1, transport: 2 } as const;

/** Loads bytes of a header, the rest of the last word zero. A packet that is too short does not match the rule. */
export interface PayloadLoad {
  readonly kind: 'payload';
  readonly base: keyof typeof PAYLOAD_BASES;
  /** In bytes. */
  readonly offset: number;
  readonly length: number;
  readonly to: Register;
}

export const payloadLoad: ExpressionCodec<PayloadLoad> = codecOf<PayloadLoad>('payload', 'payload', {
  base: named(NFTA_PAYLOAD_BASE, PAYLOAD_BASES),
  offset: be32(NFTA_PAYLOAD_OFFSET),
  length: be32(NFTA_PAYLOAD_LEN),
  to: registerField(NFTA_PAYLOAD_DREG),
});
