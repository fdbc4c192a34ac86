// Rules: NFT_MSG_NEWRULE and its kin.
import { NLM_F_APPEND, NLM_F_CREATE } from '../netlink/constants.ts';
import { stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { NftCommand, TableRef } from './commands.ts';
import { NFT_MSG_DELRULE, NFT_MSG_GETRULE, NFT_MSG_NEWRULE } from './constants.ts';
import type { AnonymousSetIds } from './expressions/codec.ts';
import { type Expression, readExpressions, writeExpressions } from './expressions.ts';
import { beginNftMessage, dumpRequest, objectsIn } from './message.ts';
import { commentIn, commentUserdata } from './userdata.ts';

const NFTA_RULE_TABLE = 1;
const NFTA_RULE_CHAIN = 2;
const NFTA_RULE_HANDLE = 3;
export const NFTA_RULE_EXPRESSIONS = 4;
const NFTA_RULE_USERDATA = 7;

/** A rule as the kernel tells of it. */
export interface Rule extends TableRef {
  readonly chain: string;
  /** The kernel's number for it, as `nft -a` prints it. */
  readonly handle: bigint;
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

/** Appends a rule to its chain. Sets of the rule's own must have been written before. */
export function writeRule(
  writer: NetlinkWriter,
  sequence: number,
  command: Extract<NftCommand, { readonly op: 'add-rule' }>,
  sets: AnonymousSetIds,
): void {
  beginNftMessage(writer, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, sequence, command.family);
  writer.string(NFTA_RULE_TABLE, command.table);
  writer.string(NFTA_RULE_CHAIN, command.chain);
  writeExpressions(writer, NFTA_RULE_EXPRESSIONS, command.expressions, sets);
  if (command.comment !== undefined) writer.bytes(NFTA_RULE_USERDATA, commentUserdata(command.comment));
  writer.endMessage();
}

/** Deletes all rules of a chain. */
export function writeFlushChain(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, chain }: TableRef & { readonly chain: string },
): void {
  beginNftMessage(writer, NFT_MSG_DELRULE, 0, sequence, family);
  writer.string(NFTA_RULE_TABLE, table);
  writer.string(NFTA_RULE_CHAIN, chain);
  writer.endMessage();
}

/** Asks for the rules of a table. */
export function rulesRequest({ family, table }: TableRef): Uint8Array<ArrayBuffer> {
  return dumpRequest(NFT_MSG_GETRULE, family, (writer) => writer.string(NFTA_RULE_TABLE, table));
}

/** The rules in the answer, in the order in which the kernel runs them, chain by chain. */
export function* rulesIn(datagrams: Iterable<Uint8Array>): Generator<Rule> {
  for (const { family, attributes } of objectsIn(datagrams, NFT_MSG_NEWRULE)) {
    const table = attributes.get(NFTA_RULE_TABLE);
    const chain = attributes.get(NFTA_RULE_CHAIN);
    if (table === undefined || chain === undefined) continue;
    const expressions = attributes.get(NFTA_RULE_EXPRESSIONS);
    const comment = commentIn(attributes.get(NFTA_RULE_USERDATA));
    yield {
      family,
      table: stringOf(table),
      chain: stringOf(chain),
      handle: attributes.get(NFTA_RULE_HANDLE)?.readBigUInt64BE() ?? 0n,
      expressions: expressions === undefined ? [] : readExpressions(expressions),
      ...(comment !== undefined && { comment }),
    };
  }
}
