// Tables: NFT_MSG_NEWTABLE and its kin.
import { NLM_F_CREATE } from '../netlink/constants.ts';
import { stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { TableRef } from './commands.ts';
import { NFT_MSG_DELTABLE, NFT_MSG_GETTABLE, NFT_MSG_NEWTABLE } from './constants.ts';
import { beginNftMessage, dumpRequest, objectsIn } from './message.ts';

const NFTA_TABLE_NAME = 1;

/** One message for `add-table` or `delete-table`. Deleting takes all that is in the table with it. */
export function writeTable(
  writer: NetlinkWriter,
  sequence: number,
  { op, family, table }: TableRef & { readonly op: 'add-table' | 'delete-table' },
): void {
  if (op === 'add-table') beginNftMessage(writer, NFT_MSG_NEWTABLE, NLM_F_CREATE, sequence, family);
  else beginNftMessage(writer, NFT_MSG_DELTABLE, 0, sequence, family);
  writer.string(NFTA_TABLE_NAME, table);
  writer.endMessage();
}

/** Asks for all tables. */
export function tablesRequest(): Uint8Array<ArrayBuffer> {
  return dumpRequest(NFT_MSG_GETTABLE, undefined);
}

/** The tables in the answer, and in NEWTABLE messages that we wrote ourselves. */
export function* tablesIn(datagrams: Iterable<Uint8Array>): Generator<TableRef> {
  for (const { family, attributes } of objectsIn(datagrams, NFT_MSG_NEWTABLE)) {
    const name = attributes.get(NFTA_TABLE_NAME);
    if (name !== undefined) yield { family, table: stringOf(name) };
  }
}
