// Elements of sets and maps: NFT_MSG_NEWSETELEM and its kin. There are many of them, so both directions avoid objects
// that nobody asked for.
import { PointsmanError } from '../../base/errors.ts';
import { NLM_F_CREATE } from '../netlink/constants.ts';
import { NFGENMSG_LENGTH, NFNL_SUBSYS_NFTABLES, netfilterType } from '../netlink/nfnetlink.ts';
import { type Attribute, attributesOf, messagesOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { NftFamily, SetElement, TableRef } from './commands.ts';
import {
  NFT_MSG_DELSETELEM,
  NFT_MSG_DESTROYSETELEM,
  NFT_MSG_GETSETELEM,
  NFT_MSG_NEWSETELEM,
  NFTA_LIST_ELEM,
} from './constants.ts';
import { readData, writeData } from './data.ts';
import { beginNftMessage, dumpRequest } from './message.ts';

const NFTA_SET_ELEM_KEY = 1;
const NFTA_SET_ELEM_DATA = 2;
const NFTA_SET_ELEM_FLAGS = 3;
const NFTA_SET_ELEM_TIMEOUT = 4;
const NFTA_SET_ELEM_EXPIRATION = 5;
const NFTA_SET_ELEM_KEY_END = 10;
const NFTA_SET_ELEM_LIST_TABLE = 1;
const NFTA_SET_ELEM_LIST_SET = 2;
export const NFTA_SET_ELEM_LIST_ELEMENTS = 3;
const NFTA_SET_ELEM_LIST_SET_ID = 4;
/** enum nft_set_elem_flags. */
const NFT_SET_ELEM_CATCHALL = 0x2;

/** A list of elements is one attribute, of 65535 bytes at most; an element is some hundred bytes at most. */
const LIST_BYTES = 60_000;

type ElementsOperation = 'add-elements' | 'delete-elements' | 'destroy-elements';

const MESSAGES: Readonly<Record<ElementsOperation, number>> = {
  'add-elements': NFT_MSG_NEWSETELEM,
  'delete-elements': NFT_MSG_DELSETELEM,
  'destroy-elements': NFT_MSG_DESTROYSETELEM,
};

export interface ElementsCommand extends TableRef {
  readonly op: ElementsOperation;
  readonly set: string;
  readonly elements: readonly SetElement[];
}

/**
 * Writes one message, with as many elements from `start` on as fit into one list. Answers the index of the next
 * element. `id` is the number within the batch of a set of a rule's own.
 */
export function writeElements(
  writer: NetlinkWriter,
  sequence: number,
  command: ElementsCommand,
  start: number,
  id?: number,
): number {
  const { op, family, table, set, elements } = command;
  beginNftMessage(writer, MESSAGES[op], op === 'add-elements' ? NLM_F_CREATE : 0, sequence, family);
  writer.string(NFTA_SET_ELEM_LIST_TABLE, table);
  writer.string(NFTA_SET_ELEM_LIST_SET, set);
  if (id !== undefined) writer.be32(NFTA_SET_ELEM_LIST_SET_ID, id);
  const list = writer.beginNested(NFTA_SET_ELEM_LIST_ELEMENTS);
  const full = writer.length + LIST_BYTES;
  let next = start;
  for (; next < elements.length && writer.length < full; next += 1) {
    const element = elements[next];
    if (element !== undefined) writeElement(writer, element);
  }
  writer.endNested(list);
  writer.endMessage();
  return next;
}

function writeElement(writer: NetlinkWriter, element: SetElement): void {
  const outer = writer.beginNested(NFTA_LIST_ELEM);
  if (element.key.length > 0) writeData(writer, NFTA_SET_ELEM_KEY, element.key);
  else writer.be32(NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_CATCHALL);
  if (element.keyEnd !== undefined) writeData(writer, NFTA_SET_ELEM_KEY_END, element.keyEnd);
  if (element.data !== undefined) writeData(writer, NFTA_SET_ELEM_DATA, element.data);
  if (element.timeoutMs !== undefined) writer.be64(NFTA_SET_ELEM_TIMEOUT, BigInt(element.timeoutMs));
  if (element.expiresMs !== undefined) writer.be64(NFTA_SET_ELEM_EXPIRATION, BigInt(element.expiresMs));
  writer.endNested(outer);
}

/** Deletes all elements of a set. */
export function writeFlushSet(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, set }: TableRef & { readonly set: string },
): void {
  beginNftMessage(writer, NFT_MSG_DELSETELEM, 0, sequence, family);
  writer.string(NFTA_SET_ELEM_LIST_TABLE, table);
  writer.string(NFTA_SET_ELEM_LIST_SET, set);
  writer.endMessage();
}

/** Asks for the elements of a set. */
export function elementsRequest(
  { family, table }: { readonly family: NftFamily; readonly table: string },
  set: string,
): Uint8Array<ArrayBuffer> {
  return dumpRequest(NFT_MSG_GETSETELEM, family, (writer) => {
    writer.string(NFTA_SET_ELEM_LIST_TABLE, table);
    writer.string(NFTA_SET_ELEM_LIST_SET, set);
  });
}

/** The elements in the answer, decoded as they are taken. Throws E_MALFORMED for an element of another kind of set. */
export function* elementsIn(datagrams: Iterable<Uint8Array>): Generator<SetElement> {
  const wanted = netfilterType(NFNL_SUBSYS_NFTABLES, NFT_MSG_NEWSETELEM);
  for (const datagram of datagrams) {
    for (const { type, payload } of messagesOf(datagram)) {
      if (type !== wanted) continue;
      for (const attribute of attributesOf(payload, NFGENMSG_LENGTH)) {
        if (attribute.type !== NFTA_SET_ELEM_LIST_ELEMENTS) continue;
        for (const element of attributesOf(attribute.payload)) yield readElement(element);
      }
    }
  }
}

function readElement({ payload: element }: Attribute): SetElement {
  let key: Uint8Array = new Uint8Array();
  let keyEnd: Uint8Array | undefined;
  let data: SetElement['data'];
  let timeoutMs: number | undefined;
  let expiresMs: number | undefined;
  let flags = 0;
  for (const { type, payload } of attributesOf(element)) {
    switch (type) {
      case NFTA_SET_ELEM_KEY:
        key = readKey(payload);
        break;
      case NFTA_SET_ELEM_KEY_END:
        keyEnd = readKey(payload);
        break;
      case NFTA_SET_ELEM_DATA:
        data = readData(payload);
        break;
      case NFTA_SET_ELEM_TIMEOUT:
        timeoutMs = Number(payload.readBigUInt64BE());
        break;
      case NFTA_SET_ELEM_EXPIRATION:
        expiresMs = Number(payload.readBigUInt64BE());
        break;
      case NFTA_SET_ELEM_FLAGS:
        flags = payload.readUInt32BE();
    }
  }
  if ((flags & ~NFT_SET_ELEM_CATCHALL) !== 0) {
    throw new PointsmanError('E_MALFORMED', `nf_tables set element with flags ${flags}`);
  }
  return {
    key,
    ...(keyEnd && { keyEnd }),
    ...(data && { data }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(expiresMs !== undefined && { expiresMs }),
  };
}

function readKey(payload: Buffer): Uint8Array {
  const key = readData(payload);
  if (key instanceof Uint8Array) return key;
  throw new PointsmanError('E_MALFORMED', 'nf_tables set element with a verdict for a key');
}
