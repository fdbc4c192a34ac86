// The frame of the netfilter subsystems (linux/netfilter/nfnetlink.h): message types, nfgenmsg, and batches.
import { PointsmanError } from '../../base/errors.ts';
import { NLM_F_ACK, NLM_F_REQUEST } from './constants.ts';
import { attributeMap, attributesOf, hostU32, messagesOf } from './reader.ts';
import { type NetlinkWriter, NLMSG_HDRLEN } from './writer.ts';

export const NFNL_MSG_BATCH_BEGIN = 16;
export const NFNL_MSG_BATCH_END = 17;
export const NFNL_SUBSYS_CTNETLINK = 1;
export const NFNL_SUBSYS_NFTABLES = 10;
export const NFNETLINK_V0 = 0;
export const NFGENMSG_LENGTH = 4;
const NFNL_BATCH_GENID = 1;

// Multicast groups (enum nfnetlink_groups), for `subscribe`.
export const NFNLGRP_CONNTRACK_NEW = 1;
export const NFNLGRP_CONNTRACK_UPDATE = 2;
export const NFNLGRP_CONNTRACK_DESTROY = 3;
export const NFNLGRP_NFTABLES = 7;
export const NFNLGRP_NFTRACE = 9;

// linux/netfilter/nf_tables.h: the generation, a number that every commit raises by one.
const NFT_MSG_NEWGEN = 15;
const NFT_MSG_GETGEN = 16;
const NFTA_GEN_ID = 1;

/** nlmsg_type of a message of a subsystem. */
export const netfilterType = (subsystem: number, message: number): number => (subsystem << 8) | message;

/** `struct nfgenmsg`; `resourceId` is big-endian on the wire. */
export function nfgenmsg(family: number, resourceId = 0): Uint8Array {
  return Uint8Array.of(family, NFNETLINK_V0, resourceId >> 8, resourceId & 0xff);
}

/**
 * Starts a batch. With `generation`, the kernel refuses the whole batch with ERESTART, on this message, unless it is
 * still the present one: a lock against other writers.
 */
export function beginBatch(
  writer: NetlinkWriter,
  subsystem: number,
  sequence: number,
  generation?: number,
): void {
  writer.beginMessage(NFNL_MSG_BATCH_BEGIN, NLM_F_REQUEST, sequence);
  writer.raw(nfgenmsg(0, subsystem));
  if (generation !== undefined) writer.be32(NFNL_BATCH_GENID, generation);
  writer.endMessage();
}

/** Ends a batch, asking for the ack that tells of its commit. */
export function endBatch(writer: NetlinkWriter, subsystem: number, sequence: number): void {
  writer.beginMessage(NFNL_MSG_BATCH_END, NLM_F_REQUEST | NLM_F_ACK, sequence);
  writer.raw(nfgenmsg(0, subsystem));
  writer.endMessage();
}

/** What the frame of a batch says. */
export interface Batch {
  /** BEGIN and END included. */
  readonly messages: number;
  readonly endSequence: number;
  /** The generation that BEGIN asks for. */
  readonly generation?: number;
}

/**
 * Checks that `batch` is one complete batch: BEGIN, messages, END with NLM_F_ACK, nothing after it. A batch without
 * END would be acked message by message and silently not applied. Throws E_MALFORMED.
 */
export function readBatch(batch: Uint8Array): Batch {
  let messages = 0;
  let generation: number | undefined;
  let endSequence: number | undefined;
  for (const { type, flags, sequence, payload } of messagesOf(batch)) {
    messages += 1;
    if (endSequence !== undefined)
      throw new PointsmanError('E_MALFORMED', 'a netlink batch goes on after its END');
    if ((messages === 1) !== (type === NFNL_MSG_BATCH_BEGIN)) {
      throw new PointsmanError('E_MALFORMED', 'a netlink batch must have one BEGIN, as its first message');
    }
    if (type === NFNL_MSG_BATCH_BEGIN) {
      const value = attributeMap(payload, NFGENMSG_LENGTH).get(NFNL_BATCH_GENID);
      generation = value?.readUInt32BE(0);
    } else if (type === NFNL_MSG_BATCH_END) {
      if (!(flags & NLM_F_ACK))
        throw new PointsmanError('E_MALFORMED', 'the END of a netlink batch lacks NLM_F_ACK');
      endSequence = sequence;
    }
  }
  if (endSequence === undefined) throw new PointsmanError('E_MALFORMED', 'a netlink batch lacks its END');
  return { messages, endSequence, ...(generation !== undefined && { generation }) };
}

/** The bytes of the first message of `batch` with that sequence number, as a view. */
export function messageWithSequence(batch: Uint8Array, sequence: number): Uint8Array | undefined {
  const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.byteLength);
  let at = 0;
  while (at + NLMSG_HDRLEN <= bytes.length) {
    const length = hostU32(bytes, at);
    if (hostU32(bytes, at + 8) === sequence) return batch.subarray(at, at + length);
    at += Math.max((length + 3) & ~3, NLMSG_HDRLEN);
  }
  return undefined;
}

/** Asks nf_tables for its present generation (NFT_MSG_GETGEN). */
export function encodeGetGeneration(writer: NetlinkWriter, sequence: number): void {
  writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, NFT_MSG_GETGEN), NLM_F_REQUEST, sequence);
  writer.raw(nfgenmsg(0));
  writer.endMessage();
}

/** The generation in an answer to `encodeGetGeneration`, or undefined if the datagram holds none. */
export function decodeGeneration(datagram: Uint8Array): number | undefined {
  for (const { type, payload } of messagesOf(datagram)) {
    if (type !== netfilterType(NFNL_SUBSYS_NFTABLES, NFT_MSG_NEWGEN)) continue;
    for (const attribute of attributesOf(payload, NFGENMSG_LENGTH)) {
      if (attribute.type === NFTA_GEN_ID) return attribute.payload.readUInt32BE(0);
    }
  }
  return undefined;
}
