// Commands to one batch, and from the kernel's complaint about one of its messages back to the command.
import { beginBatch, endBatch, NFNL_SUBSYS_NFTABLES } from '../netlink/nfnetlink.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import { writeChain, writeDeleteChain } from './chains.ts';
import type { AnonymousSet, NftCommand } from './commands.ts';
import { ANONYMOUS_NAME } from './constants.ts';
import { type Description, describeMessage, type MessageOrigin } from './describe.ts';
import { writeElements, writeFlushSet } from './elements.ts';
import type { AnonymousSetIds } from './expressions/codec.ts';
import { writeFlushChain, writeRule } from './rules.ts';
import { writeAnonymousSet, writeDeleteSet, writeSet } from './sets.ts';
import { writeTable } from './tables.ts';

export type { Description } from './describe.ts';

export interface TransactionOptions {
  /** The generation that the commands build on: if it is no more the present one, the kernel refuses them. */
  readonly generation?: number;
}

export interface EncodedTransaction {
  /** One datagram, BATCH_BEGIN to BATCH_END. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** BEGIN and END included; sequence numbers are 1 to `messages`. */
  readonly messages: number;
  /**
   * What the refused message of a sequence number was to do. With the message's bytes and the offset that the kernel
   * told, it names the element and the attribute as well.
   */
  describe(failure: {
    readonly sequence: number;
    readonly offset?: number;
    readonly message?: Uint8Array;
  }): Description;
}

/** Messages are below 64 KB, most are far below; this fits a change of a few Services without growing. */
const INITIAL_BYTES = 16 * 1024;

/**
 * Encodes commands as one batch, all or nothing. Costs about 0.1 µs an element on the calling thread, so a load of any
 * size should be cut into batches of some ten thousand elements, unless it must be one transaction.
 */
export function encodeTransaction(
  commands: readonly NftCommand[],
  { generation }: TransactionOptions = {},
): EncodedTransaction {
  const writer = createNetlinkWriter(INITIAL_BYTES);
  const origins: MessageOrigin[] = [];
  // The new length of the list is the message's sequence number.
  const next = (origin: MessageOrigin): number => origins.push(origin);
  beginBatch(writer, NFNL_SUBSYS_NFTABLES, next({ kind: 'begin' }), generation);
  for (const [index, command] of commands.entries()) writeCommand(writer, next, command, index);
  endBatch(writer, NFNL_SUBSYS_NFTABLES, next({ kind: 'end' }));
  return {
    bytes: writer.finish(),
    messages: origins.length,
    describe(failure) {
      const origin = origins[failure.sequence - 1] ?? { kind: 'end' };
      const command = origin.kind === 'command' ? commands[origin.command] : undefined;
      return describeMessage(origin, command, failure);
    },
  };
}

function writeCommand(
  writer: NetlinkWriter,
  nextMessage: (origin: MessageOrigin) => number,
  command: NftCommand,
  index: number,
): void {
  const next = (firstElement?: number): number =>
    nextMessage({ kind: 'command', command: index, ...(firstElement !== undefined && { firstElement }) });
  switch (command.op) {
    case 'add-table':
    case 'delete-table':
      writeTable(writer, next(), command);
      break;
    case 'add-chain':
      writeChain(writer, next(), command);
      break;
    case 'flush-chain':
      writeFlushChain(writer, next(), command);
      break;
    case 'delete-chain':
      writeDeleteChain(writer, next(), command);
      break;
    case 'add-rule': {
      const sets = writeAnonymousSets(writer, next, command);
      writeRule(writer, next(), command, sets);
      break;
    }
    case 'add-set': {
      // The sequence number is unique in the batch, and so the set's number that is made of it.
      const sequence = next();
      writeSet(writer, sequence, command, sequence);
      break;
    }
    case 'flush-set':
      writeFlushSet(writer, next(), command);
      break;
    case 'delete-set':
      writeDeleteSet(writer, next(), command);
      break;
    case 'add-elements':
    case 'delete-elements':
    case 'destroy-elements': {
      let element = 0;
      while (element < command.elements.length)
        element = writeElements(writer, next(element), command, element);
    }
  }
}

/** Writes the sets of the rule's own, elements included, and gives their numbers within the batch. */
function writeAnonymousSets(
  writer: NetlinkWriter,
  next: () => number,
  { family, table, expressions }: Extract<NftCommand, { readonly op: 'add-rule' }>,
): AnonymousSetIds {
  const ids = new Map<AnonymousSet, number>();
  for (const expression of expressions) {
    if (expression.kind !== 'lookup' || typeof expression.set === 'string') continue;
    const id = next();
    ids.set(expression.set, id);
    writeAnonymousSet(writer, id, { family, table }, expression.set, id);
    const { elements } = expression.set;
    const list = { op: 'add-elements', family, table, set: ANONYMOUS_NAME, elements } as const;
    let element = 0;
    while (element < elements.length) element = writeElements(writer, next(), list, element, id);
  }
  return ids;
}
