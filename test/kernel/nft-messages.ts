// nf_tables messages by hand, as few as the kernel client's tests need.
import { NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REQUEST } from '../../src/kernel/netlink/constants.ts';
import {
  beginBatch,
  endBatch,
  NFNL_SUBSYS_NFTABLES,
  netfilterType,
  nfgenmsg,
} from '../../src/kernel/netlink/nfnetlink.ts';
import { attributeMap, attributesOf, messagesOf, stringOf } from '../../src/kernel/netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../../src/kernel/netlink/writer.ts';

const NFPROTO_IPV4 = 2;
const NFT_MSG_NEWTABLE = 0;
const NFT_MSG_GETTABLE = 1;
const NFT_MSG_DELTABLE = 2;
const NFT_MSG_NEWCHAIN = 3;
const NFT_MSG_NEWSET = 9;
const NFT_MSG_NEWSETELEM = 12;
const NFT_MSG_GETSETELEM = 13;
const NFTA_TABLE_NAME = 1;
const NFTA_CHAIN_TABLE = 1;
const NFTA_CHAIN_NAME = 3;
const NFTA_SET_TABLE = 1;
const NFTA_SET_NAME = 2;
const NFTA_SET_KEY_TYPE = 4;
const NFTA_SET_KEY_LEN = 5;
const NFTA_SET_ID = 10;
const NFTA_SET_ELEM_LIST_TABLE = 1;
const NFTA_SET_ELEM_LIST_SET = 2;
const NFTA_SET_ELEM_LIST_ELEMENTS = 3;
const NFTA_LIST_ELEM = 1;
const NFTA_SET_ELEM_KEY = 1;
const NFTA_DATA_VALUE = 1;
/** nft's number for a plain integer, so that `nft list` can print the set. */
const TYPE_INTEGER = 4;
/** 9 bytes of list header, key and value and padding: 20 an element, so that a list stays below 65535 bytes. */
const ELEMENTS_PER_MESSAGE = 3000;

export interface BatchOptions {
  readonly generation?: number;
  /** Leaves BATCH_END out. */
  readonly open?: boolean;
  /** Asks for an ack of every message. */
  readonly ackAll?: boolean;
}

/** A writer of the messages between BEGIN and END. */
export type Content = (batch: BatchWriter) => void;

export interface BatchWriter {
  newTable(table: string): void;
  deleteTable(table: string): void;
  newChain(table: string, chain: string): void;
  /** A set of 4-byte integers. */
  newSet(table: string, set: string): void;
  /** Adds the integers from `from` on, `count` of them. */
  newElements(table: string, set: string, from: number, count: number): void;
}

/** The bytes of a whole batch, sequence numbers from 1. */
export function encodeBatch(content: Content, options: BatchOptions = {}): Uint8Array<ArrayBuffer> {
  const writer = createNetlinkWriter(64 * 1024);
  let sequence = 0;
  const next = (): number => {
    sequence += 1;
    return sequence;
  };
  const message = (type: number, flags: number, attributes: (writer: NetlinkWriter) => void): void => {
    const all = NLM_F_REQUEST | flags | (options.ackAll ? NLM_F_ACK : 0);
    writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, type), all, next());
    writer.raw(nfgenmsg(NFPROTO_IPV4));
    attributes(writer);
    writer.endMessage();
  };

  beginBatch(writer, NFNL_SUBSYS_NFTABLES, next(), options.generation);
  content({
    newTable: (table) => message(NFT_MSG_NEWTABLE, NLM_F_CREATE, (w) => w.string(NFTA_TABLE_NAME, table)),
    deleteTable: (table) => message(NFT_MSG_DELTABLE, 0, (w) => w.string(NFTA_TABLE_NAME, table)),
    newChain: (table, chain) =>
      message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, (w) => {
        w.string(NFTA_CHAIN_TABLE, table);
        w.string(NFTA_CHAIN_NAME, chain);
      }),
    newSet: (table, set) =>
      message(NFT_MSG_NEWSET, NLM_F_CREATE, (w) => {
        w.string(NFTA_SET_TABLE, table);
        w.string(NFTA_SET_NAME, set);
        w.be32(NFTA_SET_KEY_TYPE, TYPE_INTEGER);
        w.be32(NFTA_SET_KEY_LEN, 4);
        w.be32(NFTA_SET_ID, 1);
      }),
    newElements(table, set, from, count) {
      const end = from + count;
      for (let start = from; start < end; start += ELEMENTS_PER_MESSAGE) {
        message(NFT_MSG_NEWSETELEM, NLM_F_CREATE, (w) => {
          w.string(NFTA_SET_ELEM_LIST_TABLE, table);
          w.string(NFTA_SET_ELEM_LIST_SET, set);
          const list = w.beginNested(NFTA_SET_ELEM_LIST_ELEMENTS);
          for (let value = start; value < Math.min(start + ELEMENTS_PER_MESSAGE, end); value += 1) {
            const element = w.beginNested(NFTA_LIST_ELEM);
            const key = w.beginNested(NFTA_SET_ELEM_KEY);
            w.be32(NFTA_DATA_VALUE, value);
            w.endNested(key);
            w.endNested(element);
          }
          w.endNested(list);
        });
      }
    },
  });
  if (!options.open) endBatch(writer, NFNL_SUBSYS_NFTABLES, next());
  return writer.finish();
}

/** A request to dump all IPv4 tables. */
export function encodeDumpTables(): Uint8Array {
  return encodeRequest(NFT_MSG_GETTABLE, NLM_F_DUMP, () => {});
}

/** A request for one table. */
export function encodeGetTable(table: string): Uint8Array {
  return encodeRequest(NFT_MSG_GETTABLE, 0, (w) => w.string(NFTA_TABLE_NAME, table));
}

/** A request to dump the elements of a set. */
export function encodeDumpElements(table: string, set: string): Uint8Array {
  return encodeRequest(NFT_MSG_GETSETELEM, NLM_F_DUMP, (w) => {
    w.string(NFTA_SET_ELEM_LIST_TABLE, table);
    w.string(NFTA_SET_ELEM_LIST_SET, set);
  });
}

function encodeRequest(type: number, flags: number, attributes: (writer: NetlinkWriter) => void): Uint8Array {
  const writer = createNetlinkWriter(256);
  writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, type), NLM_F_REQUEST | flags, 1);
  writer.raw(nfgenmsg(NFPROTO_IPV4));
  attributes(writer);
  writer.endMessage();
  return writer.finish();
}

/** The names of the tables in an answer. */
export function tableNames(datagrams: readonly Uint8Array[]): string[] {
  const names: string[] = [];
  for (const { type, payload } of datagrams.flatMap((datagram) => [...messagesOf(datagram)])) {
    if (type !== netfilterType(NFNL_SUBSYS_NFTABLES, NFT_MSG_NEWTABLE)) continue;
    const name = attributeMap(payload, 4).get(NFTA_TABLE_NAME);
    if (name !== undefined) names.push(stringOf(name));
  }
  return names;
}

/** How many set elements an answer holds. */
export function countElements(datagrams: readonly Uint8Array[]): number {
  let count = 0;
  for (const { type, payload } of datagrams.flatMap((datagram) => [...messagesOf(datagram)])) {
    if (type !== netfilterType(NFNL_SUBSYS_NFTABLES, NFT_MSG_NEWSETELEM)) continue;
    const list = attributeMap(payload, 4).get(NFTA_SET_ELEM_LIST_ELEMENTS);
    if (list !== undefined) for (const _ of attributesOf(list)) count += 1;
  }
  return count;
}
