// The kernel's answers of type NLMSG_ERROR, which are acks when the error is 0, and the status in NLMSG_DONE.
import { PointsmanError } from '../../base/errors.ts';
import { errnoName } from '../sys/errno.ts';
import {
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLMSG_ERROR,
  NLMSGERR_ATTR_MISS_NEST,
  NLMSGERR_ATTR_MISS_TYPE,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from './constants.ts';
import { attributeMap, hostS32, hostU16, hostU32, type NetlinkMessage, stringOf } from './reader.ts';
import { type NetlinkWriter, NLMSG_HDRLEN, putHostU16, putHostU32 } from './writer.ts';

/** What the kernel says about one message that it refused. */
export interface NetlinkFailure {
  /** nlmsg_seq of the refused message. */
  readonly sequence: number;
  /** Positive. */
  readonly errno: number;
  /** As in the header: `ENOENT`. */
  readonly errnoName: string;
  /**
   * Where in the refused message the offending attribute starts, counted from its nlmsghdr; `attributePath` turns it
   * into attribute types. Often absent.
   */
  readonly offset?: number;
  /** The kernel's words; nf_tables seldom has any. */
  readonly text?: string;
  /** The type of an attribute that is missing, and the offset of the nested attribute that lacks it. */
  readonly missingType?: number;
  readonly missingIn?: number;
}

/** An ack (errno 0) or a refusal, with the type of the message that it answers. */
export interface NetlinkAnswer extends NetlinkFailure {
  readonly answeredType: number;
}

const ERRNO_SIZE = 4;

/** Decodes the NLMSG_ERROR message `message`: `struct nlmsgerr` and its attributes. */
export function decodeAnswer(message: NetlinkMessage): NetlinkAnswer {
  const { payload, flags } = message;
  if (message.type !== NLMSG_ERROR || payload.length < ERRNO_SIZE + NLMSG_HDRLEN) {
    throw new PointsmanError(
      'E_MALFORMED',
      `netlink message of type ${message.type} and ${payload.length} bytes is no error`,
    );
  }
  // Capped, the attributes follow the original's header; otherwise the whole original, padded.
  const originalLength = flags & NLM_F_CAPPED ? NLMSG_HDRLEN : hostU32(payload, ERRNO_SIZE);
  const attributesAt = ERRNO_SIZE + ((originalLength + 3) & ~3);
  return {
    ...failure(hostU32(payload, ERRNO_SIZE + 8), 0 - hostS32(payload)),
    answeredType: hostU16(payload, ERRNO_SIZE + 4),
    ...(flags & NLM_F_ACK_TLVS && attributesAt <= payload.length && extendedAck(payload, attributesAt)),
  };
}

/** The failure that ends a dump, from its NLMSG_DONE; undefined if the dump went well. */
export function decodeDone(message: NetlinkMessage): NetlinkFailure | undefined {
  const { payload, flags, sequence } = message;
  // Since its beginning NLMSG_DONE carries the dump function's result; some old dumps send none.
  if (payload.length < ERRNO_SIZE || hostS32(payload) >= 0) return undefined;
  return {
    ...failure(sequence, -hostS32(payload)),
    ...(flags & NLM_F_ACK_TLVS && extendedAck(payload, ERRNO_SIZE)),
  };
}

/** Writes an ack or error as the kernel does with NETLINK_CAP_ACK set; for fakes of the kernel. */
export function encodeAnswer(writer: NetlinkWriter, answer: Omit<NetlinkAnswer, 'errnoName'>): void {
  const { sequence, errno, answeredType, offset, text, missingType, missingIn } = answer;
  const extended = [offset, text, missingType, missingIn].some((value) => value !== undefined);
  writer.beginMessage(NLMSG_ERROR, NLM_F_CAPPED | (extended ? NLM_F_ACK_TLVS : 0), sequence);
  const body = Buffer.alloc(ERRNO_SIZE + NLMSG_HDRLEN);
  putHostU32(body, -errno, 0);
  putHostU32(body, NLMSG_HDRLEN, ERRNO_SIZE);
  putHostU16(body, answeredType, ERRNO_SIZE + 4);
  putHostU32(body, sequence, ERRNO_SIZE + 8);
  writer.raw(body);
  if (text !== undefined) writer.string(NLMSGERR_ATTR_MSG, text);
  if (offset !== undefined) writer.host32(NLMSGERR_ATTR_OFFS, offset);
  if (missingType !== undefined) writer.host32(NLMSGERR_ATTR_MISS_TYPE, missingType);
  if (missingIn !== undefined) writer.host32(NLMSGERR_ATTR_MISS_NEST, missingIn);
  writer.endMessage();
}

/** One line about a failure: `ENOENT at offset 32: no such chain`. */
export function describeFailure(failure: NetlinkFailure): string {
  const { errnoName: name, offset, text, missingType } = failure;
  return [
    name,
    offset !== undefined && ` at offset ${offset}`,
    missingType !== undefined && ` (attribute ${missingType} is missing)`,
    text !== undefined && `: ${text}`,
  ]
    .filter((part) => part !== false)
    .join('');
}

const failure = (sequence: number, errno: number): NetlinkFailure => ({
  sequence,
  errno,
  errnoName: errno === 0 ? 'OK' : errnoName(errno),
});

function extendedAck(payload: Buffer, at: number): Partial<NetlinkFailure> {
  const attributes = attributeMap(payload, at);
  const text = attributes.get(NLMSGERR_ATTR_MSG);
  const offset = attributes.get(NLMSGERR_ATTR_OFFS);
  const missingType = attributes.get(NLMSGERR_ATTR_MISS_TYPE);
  const missingIn = attributes.get(NLMSGERR_ATTR_MISS_NEST);
  return {
    ...(text && { text: stringOf(text) }),
    ...(offset && { offset: hostU32(offset) }),
    ...(missingType && { missingType: hostU32(missingType) }),
    ...(missingIn && { missingIn: hostU32(missingIn) }),
  };
}
