// Which attribute an error means: the kernel tells an offset into the refused message.
import { hostU16 } from './reader.ts';
import { NLA_F_NESTED, NLA_HDRLEN, NLMSG_HDRLEN } from './writer.ts';

const NLA_TYPE_MASK = 0x3fff;

/**
 * The types of the attributes around `offset` (NLMSGERR_ATTR_OFFS, counted from nlmsghdr), the outermost first; empty
 * if no attribute starts there. `fixedHeader` is the size of what stands between nlmsghdr and the first attribute: 4
 * for nfgenmsg. Nesting is followed where NLA_F_NESTED is set, as the writer does.
 */
export function attributePath(message: Uint8Array, offset: number, fixedHeader: number): readonly number[] {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const path: number[] = [];
  let at = NLMSG_HDRLEN + fixedHeader;
  let end = bytes.length;
  while (at + NLA_HDRLEN <= end) {
    const length = hostU16(bytes, at);
    const type = hostU16(bytes, at + 2);
    if (length < NLA_HDRLEN || at + length > end) return [];
    if (at === offset) return [...path, type & NLA_TYPE_MASK];
    if (offset < at + length && type & NLA_F_NESTED) {
      path.push(type & NLA_TYPE_MASK);
      end = at + length;
      at += NLA_HDRLEN;
    } else {
      at += (length + 3) & ~3;
    }
  }
  return [];
}
