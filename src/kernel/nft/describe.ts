// What a message of a batch was to do, and what the kernel disliked about it, in words.
import { attributePath } from '../netlink/attribute-path.ts';
import { NFGENMSG_LENGTH } from '../netlink/nfnetlink.ts';
import { attributesOf, hostU16 } from '../netlink/reader.ts';
import { NLMSG_HDRLEN } from '../netlink/writer.ts';
import { attributeNames } from './attribute-names.ts';
import type { NftCommand } from './commands.ts';
import { NFTA_SET_ELEM_LIST_ELEMENTS } from './elements.ts';
import { NFTA_RULE_EXPRESSIONS } from './rules.ts';

/** Why a message is in the batch. */
export type MessageOrigin =
  | { readonly kind: 'begin' | 'end' }
  /** `firstElement` is the place of the message's first element in the command's list. */
  | { readonly kind: 'command'; readonly command: number; readonly firstElement?: number };

/** A refused message in words. */
export interface Description {
  /** `add`, `delete`, `flush`, `destroy`; `begin` and `end` of the batch itself. */
  readonly operation: string;
  /** `chain ip pointsman dispatch`, `element 0a600001 of set ip pointsman cluster-ips`: with the key in hex. */
  readonly object: string;
  /** Header names from the outside in, `NFTA_SET_ELEM_LIST_ELEMENTS NFTA_LIST_ELEM`; absent if the kernel named none. */
  readonly attribute?: string;
  /** The place of the command in the list; absent for the batch itself. */
  readonly commandIndex?: number;
  /** The place of the element in the command's list. */
  readonly elementIndex?: number;
  /** The place of the expression in the rule. */
  readonly expressionIndex?: number;
}

interface Complaint {
  readonly offset?: number;
  readonly message?: Uint8Array;
}

/** Describes a message by its origin; `command` is the one of the origin. */
export function describeMessage(
  origin: MessageOrigin,
  command: NftCommand | undefined,
  { offset, message }: Complaint,
): Description {
  if (origin.kind !== 'command' || command === undefined) {
    return { operation: origin.kind, object: 'batch' };
  }
  const known = offset !== undefined && message !== undefined;
  const attribute = known ? attributeAt(message, offset) : '';
  const { firstElement } = origin;
  const place =
    known && firstElement !== undefined ? indexIn(message, NFTA_SET_ELEM_LIST_ELEMENTS, offset) : undefined;
  const elementIndex = place === undefined || firstElement === undefined ? undefined : firstElement + place;
  const expressionIndex =
    known && command.op === 'add-rule' ? indexIn(message, NFTA_RULE_EXPRESSIONS, offset) : undefined;
  return {
    ...wordsOf(command, elementIndex, expressionIndex),
    ...(attribute !== '' && { attribute }),
    commandIndex: origin.command,
    ...(elementIndex !== undefined && { elementIndex }),
    ...(expressionIndex !== undefined && { expressionIndex }),
  };
}

function wordsOf(
  command: NftCommand,
  elementIndex: number | undefined,
  expressionIndex: number | undefined,
): { readonly operation: string; readonly object: string } {
  const place = `${command.family} ${command.table}`;
  const operation = command.op.slice(0, command.op.indexOf('-'));
  switch (command.op) {
    case 'add-table':
    case 'delete-table':
      return { operation, object: `table ${place}` };
    case 'add-chain':
    case 'flush-chain':
    case 'delete-chain':
      return { operation, object: `chain ${place} ${command.chain}` };
    case 'add-rule': {
      const expression = expressionIndex === undefined ? undefined : command.expressions[expressionIndex];
      const part = expression === undefined ? '' : `, expression ${expressionIndex} (${expression.kind})`;
      return { operation, object: `rule in chain ${place} ${command.chain}${part}` };
    }
    case 'add-set': {
      const kind = command.definition.data === undefined ? 'set' : 'map';
      return { operation, object: `${kind} ${place} ${command.definition.name}` };
    }
    case 'flush-set':
    case 'delete-set':
      return { operation, object: `set ${place} ${command.set}` };
    case 'add-elements':
    case 'delete-elements':
    case 'destroy-elements': {
      const element = elementIndex === undefined ? undefined : command.elements[elementIndex];
      const what = element === undefined ? 'elements' : `element ${keyText(element.key)}`;
      return { operation, object: `${what} of set ${place} ${command.set}` };
    }
  }
}

/** A key as `nft --debug=netlink` groups it, in words of 4 bytes, but in the order of the bytes. */
function keyText(key: Uint8Array): string {
  if (key.length === 0) return '*';
  const hex = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex');
  return hex.replace(/.{8}(?=.)/g, '$& ');
}

function attributeAt(message: Uint8Array, offset: number): string {
  const type = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const path = attributePath(message, offset, NFGENMSG_LENGTH);
  return attributeNames(hostU16(type, 4) & 0xff, path).join(' ');
}

/** Which element of the message's attribute `list` the offset points into. */
function indexIn(message: Uint8Array, list: number, offset: number): number | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  for (const { type, payload } of attributesOf(bytes.subarray(NLMSG_HDRLEN), NFGENMSG_LENGTH)) {
    const start = payload.byteOffset - bytes.byteOffset;
    if (type !== list || offset < start || offset >= start + payload.length) continue;
    let index = 0;
    for (const element of attributesOf(payload)) {
      const end = element.payload.byteOffset - bytes.byteOffset + element.payload.length;
      if (offset < end) return index;
      index += 1;
    }
  }
  return undefined;
}
