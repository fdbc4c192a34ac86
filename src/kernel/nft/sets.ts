// Sets and maps: NFT_MSG_NEWSET and its kin. Their elements are in elements.ts.
import { PointsmanError } from '../../base/errors.ts';
import { NLM_F_CREATE } from '../netlink/constants.ts';
import { attributeMap, stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { AnonymousSet, NftCommand, NftFamily, SetDefinition, TableRef } from './commands.ts';
import {
  ANONYMOUS_NAME,
  NFT_MSG_DELSET,
  NFT_MSG_GETSET,
  NFT_MSG_NEWSET,
  NFTA_LIST_ELEM,
} from './constants.ts';
import { byteOrder, fieldLengths, fieldsOfNumber, lengthOf, typeNumber } from './fields.ts';
import { beginNftMessage, dumpRequest, objectsIn } from './message.ts';
import { byteOrderUserdata } from './userdata.ts';

const NFTA_SET_TABLE = 1;
const NFTA_SET_NAME = 2;
const NFTA_SET_FLAGS = 3;
const NFTA_SET_KEY_TYPE = 4;
const NFTA_SET_KEY_LEN = 5;
const NFTA_SET_DATA_TYPE = 6;
const NFTA_SET_DATA_LEN = 7;
const NFTA_SET_DESC = 9;
const NFTA_SET_ID = 10;
const NFTA_SET_TIMEOUT = 11;
const NFTA_SET_USERDATA = 13;
const NFTA_SET_DESC_SIZE = 1;
const NFTA_SET_DESC_CONCAT = 2;
const NFTA_SET_FIELD_LEN = 1;

// enum nft_set_flags.
const NFT_SET_ANONYMOUS = 0x1;
const NFT_SET_CONSTANT = 0x2;
const NFT_SET_INTERVAL = 0x4;
const NFT_SET_MAP = 0x8;
const NFT_SET_TIMEOUT = 0x10;
const NFT_SET_EVAL = 0x20;
const NFT_SET_CONCAT = 0x80;

/** A set as the kernel tells of it. */
export interface ListedSet extends TableRef {
  readonly name: string;
  /** It belongs to a rule. */
  readonly anonymous: boolean;
  /** Undefined when it is of a kind that Pointsman does not use. */
  readonly definition: SetDefinition | undefined;
}

/**
 * Adds a set. `id` is its number within the batch, by which the kernel wants it to be known. Throws E_MALFORMED for an
 * interval set with keys of one field, whose elements would need another form.
 */
export function writeSet(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, definition }: TableRef & { readonly definition: SetDefinition },
  id: number,
): void {
  if (definition.interval && definition.key.length === 1) {
    throw new PointsmanError(
      'E_MALFORMED',
      `interval set ${definition.name} must have keys of two or more fields`,
    );
  }
  const flags =
    (definition.interval ? NFT_SET_INTERVAL : 0) |
    (definition.data !== undefined ? NFT_SET_MAP : 0) |
    (definition.timeoutMs !== undefined ? NFT_SET_TIMEOUT : 0) |
    (definition.dynamic ? NFT_SET_EVAL : 0);
  writeNewSet(writer, sequence, family, table, definition, flags, id);
}

/** Adds a set of a rule's own; the rule must follow in the same batch. */
export function writeAnonymousSet(
  writer: NetlinkWriter,
  sequence: number,
  { family, table }: TableRef,
  { key, data }: AnonymousSet,
  id: number,
): void {
  const flags = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT | (data !== undefined ? NFT_SET_MAP : 0);
  const definition = { name: ANONYMOUS_NAME, key, ...(data && { data }) };
  writeNewSet(writer, sequence, family, table, definition, flags, id);
}

function writeNewSet(
  writer: NetlinkWriter,
  sequence: number,
  family: NftFamily,
  table: string,
  { name, key, data, timeoutMs, size }: SetDefinition,
  flags: number,
  id: number,
): void {
  const concatenated = key.length > 1;
  beginNftMessage(writer, NFT_MSG_NEWSET, NLM_F_CREATE, sequence, family);
  writer.string(NFTA_SET_TABLE, table);
  writer.string(NFTA_SET_NAME, name);
  writer.be32(NFTA_SET_FLAGS, flags | (concatenated ? NFT_SET_CONCAT : 0));
  writer.be32(NFTA_SET_KEY_TYPE, typeNumber(key));
  writer.be32(NFTA_SET_KEY_LEN, lengthOf(key));
  if (data !== undefined) {
    writer.be32(NFTA_SET_DATA_TYPE, typeNumber(data));
    if (data[0] !== 'verdict') writer.be32(NFTA_SET_DATA_LEN, lengthOf(data));
  }
  if (concatenated || size !== undefined) {
    const desc = writer.beginNested(NFTA_SET_DESC);
    if (size !== undefined) writer.be32(NFTA_SET_DESC_SIZE, size);
    if (concatenated) writeFieldLengths(writer, fieldLengths(key));
    writer.endNested(desc);
  }
  writer.be32(NFTA_SET_ID, id);
  if (timeoutMs !== undefined) writer.be64(NFTA_SET_TIMEOUT, BigInt(timeoutMs));
  writer.bytes(NFTA_SET_USERDATA, byteOrderUserdata(byteOrder(key), data && byteOrder(data)));
  writer.endMessage();
}

function writeFieldLengths(writer: NetlinkWriter, lengths: readonly number[]): void {
  const concat = writer.beginNested(NFTA_SET_DESC_CONCAT);
  for (const length of lengths) {
    const field = writer.beginNested(NFTA_LIST_ELEM);
    writer.be32(NFTA_SET_FIELD_LEN, length);
    writer.endNested(field);
  }
  writer.endNested(concat);
}

/** Deletes a set. */
export function writeDeleteSet(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, set }: Extract<NftCommand, { readonly op: 'flush-set' | 'delete-set' }>,
): void {
  beginNftMessage(writer, NFT_MSG_DELSET, 0, sequence, family);
  writer.string(NFTA_SET_TABLE, table);
  writer.string(NFTA_SET_NAME, set);
  writer.endMessage();
}

/** Asks for the sets of a table, those of rules included. */
export function setsRequest({ family, table }: TableRef): Uint8Array<ArrayBuffer> {
  return dumpRequest(NFT_MSG_GETSET, family, (writer) => writer.string(NFTA_SET_TABLE, table));
}

/** The sets in the answer. */
export function* setsIn(datagrams: Iterable<Uint8Array>): Generator<ListedSet> {
  for (const { family, attributes } of objectsIn(datagrams, NFT_MSG_NEWSET)) {
    const table = attributes.get(NFTA_SET_TABLE);
    const name = attributes.get(NFTA_SET_NAME);
    if (table === undefined || name === undefined) continue;
    const flags = attributes.get(NFTA_SET_FLAGS)?.readUInt32BE() ?? 0;
    yield {
      family,
      table: stringOf(table),
      name: stringOf(name),
      anonymous: (flags & NFT_SET_ANONYMOUS) !== 0,
      definition: definitionOf(stringOf(name), flags, attributes),
    };
  }
}

function definitionOf(
  name: string,
  flags: number,
  attributes: ReadonlyMap<number, Buffer>,
): SetDefinition | undefined {
  const key = fieldsOfNumber(attributes.get(NFTA_SET_KEY_TYPE)?.readUInt32BE() ?? 0);
  const map = (flags & NFT_SET_MAP) !== 0;
  const data = map ? fieldsOfNumber(attributes.get(NFTA_SET_DATA_TYPE)?.readUInt32BE() ?? 0) : undefined;
  if (key === undefined || key[0] === 'verdict' || (map && data === undefined)) return undefined;
  const timeout = attributes.get(NFTA_SET_TIMEOUT)?.readBigUInt64BE() ?? 0n;
  const desc = attributes.get(NFTA_SET_DESC);
  const size = desc && attributeMap(desc).get(NFTA_SET_DESC_SIZE)?.readUInt32BE();
  return {
    name,
    key,
    ...(data && { data }),
    ...(flags & NFT_SET_INTERVAL && { interval: true }),
    ...(flags & NFT_SET_EVAL && { dynamic: true }),
    ...(flags & NFT_SET_TIMEOUT && { timeoutMs: Number(timeout) }),
    ...(size && { size }),
  };
}
