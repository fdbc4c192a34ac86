// The frame of one nf_tables message: nlmsghdr, nfgenmsg, attributes.
import { NLM_F_DUMP, NLM_F_REQUEST } from '../netlink/constants.ts';
import { NFGENMSG_LENGTH, NFNL_SUBSYS_NFTABLES, netfilterType, nfgenmsg } from '../netlink/nfnetlink.ts';
import { attributeMap, messagesOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import type { NftFamily } from './commands.ts';
import { familyOfNumber, NFPROTO } from './constants.ts';

/** Starts an nf_tables message; `flags` are beside NLM_F_REQUEST. */
export function beginNftMessage(
  writer: NetlinkWriter,
  message: number,
  flags: number,
  sequence: number,
  family: NftFamily,
): void {
  writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, message), NLM_F_REQUEST | flags, sequence);
  writer.raw(nfgenmsg(NFPROTO[family]));
}

/** A dump request on its own; `attributes` writes what narrows it. */
export function dumpRequest(
  message: number,
  family: NftFamily | undefined,
  attributes: (writer: NetlinkWriter) => void = () => {},
): Uint8Array<ArrayBuffer> {
  const writer = createNetlinkWriter(256);
  writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, message), NLM_F_REQUEST | NLM_F_DUMP, 1);
  writer.raw(nfgenmsg(family === undefined ? 0 : NFPROTO[family]));
  attributes(writer);
  writer.endMessage();
  return writer.finish();
}

/** An object as the kernel tells of it. */
export interface NftObject {
  readonly family: NftFamily;
  readonly attributes: ReadonlyMap<number, Buffer>;
}

/** The objects of one message type (`NFT_MSG_NEW…`) in the datagrams of a dump; those of other families are left out. */
export function* objectsIn(datagrams: Iterable<Uint8Array>, message: number): Generator<NftObject> {
  const wanted = netfilterType(NFNL_SUBSYS_NFTABLES, message);
  for (const datagram of datagrams) {
    for (const { type, payload } of messagesOf(datagram)) {
      const family = familyOfNumber(payload[0]);
      if (type !== wanted || family === undefined || payload.length < NFGENMSG_LENGTH) continue;
      yield { family, attributes: attributeMap(payload, NFGENMSG_LENGTH) };
    }
  }
}
