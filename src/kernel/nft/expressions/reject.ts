// `reject`, `reject with tcp reset`.
import { codecOf, type ExpressionCodec, named, optional, u8 } from './codec.ts';

const NFTA_REJECT_TYPE = 1;
const NFTA_REJECT_ICMP_CODE = 2;

/** enum nft_reject_types. */
const REJECT_TYPES = { icmp: 0, 'tcp-reset': 1, icmpx: 2 } as const;

/** Answers for the addressee and drops the packet. */
export interface Reject {
  readonly kind: 'reject';
  /** `icmp` stands for ICMPv6 in an ip6 table. */
  readonly with: keyof typeof REJECT_TYPES;
  /** The ICMP code of "destination unreachable"; not with a reset. */
  readonly code?: number;
}

/** linux/icmp.h and linux/icmpv6.h: ICMP_PORT_UNREACH and ICMPV6_PORT_UNREACH. */
export const PORT_UNREACHABLE = { ip: 3, ip6: 4 } as const;

export const reject: ExpressionCodec<Reject> = codecOf<Reject>('reject', 'reject', {
  with: named(NFTA_REJECT_TYPE, REJECT_TYPES),
  code: optional(u8(NFTA_REJECT_ICMP_CODE)),
});
