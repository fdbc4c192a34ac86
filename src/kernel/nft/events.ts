// What the kernel tells of changes to the ruleset (group NFNLGRP_NFTABLES), whoever made them.
import { NFGENMSG_LENGTH, NFNL_SUBSYS_NFTABLES } from '../netlink/nfnetlink.ts';
import { attributeMap, attributesOf, messagesOf, type NetlinkMessage, stringOf } from '../netlink/reader.ts';
import type { TableRef } from './commands.ts';
import {
  familyOfNumber,
  NFT_MSG_DELCHAIN,
  NFT_MSG_DELFLOWTABLE,
  NFT_MSG_DELOBJ,
  NFT_MSG_DELRULE,
  NFT_MSG_DELSET,
  NFT_MSG_DELSETELEM,
  NFT_MSG_DELTABLE,
  NFT_MSG_NEWCHAIN,
  NFT_MSG_NEWFLOWTABLE,
  NFT_MSG_NEWGEN,
  NFT_MSG_NEWOBJ,
  NFT_MSG_NEWRULE,
  NFT_MSG_NEWSET,
  NFT_MSG_NEWSETELEM,
  NFT_MSG_NEWTABLE,
} from './constants.ts';

/** The table is attribute 1 of every object, of tables themselves too. */
const NFTA_TABLE = 1;
const NFTA_GEN_ID = 1;
const NFTA_GEN_PROC_PID = 2;
const NFTA_GEN_PROC_NAME = 3;

export type EventObject = 'table' | 'chain' | 'rule' | 'set' | 'elements' | 'object' | 'flowtable';

export type NftEvent =
  /** Something in a table came or went. `portId` is of the socket that asked for it: `client.portId` is ours. */
  | (TableRef & {
      readonly kind: 'change';
      readonly object: EventObject;
      readonly action: 'added' | 'deleted';
      readonly portId: number;
    })
  /** The transaction to which the changes before belong is committed. */
  | {
      readonly kind: 'generation';
      readonly generation: number;
      readonly portId: number;
      /** Of who made it, as of that moment. */
      readonly processId: number;
      readonly processName: string;
    };

const OBJECTS: ReadonlyMap<number, readonly [EventObject, 'added' | 'deleted']> = new Map([
  [NFT_MSG_NEWTABLE, ['table', 'added']],
  [NFT_MSG_DELTABLE, ['table', 'deleted']],
  [NFT_MSG_NEWCHAIN, ['chain', 'added']],
  [NFT_MSG_DELCHAIN, ['chain', 'deleted']],
  [NFT_MSG_NEWRULE, ['rule', 'added']],
  [NFT_MSG_DELRULE, ['rule', 'deleted']],
  [NFT_MSG_NEWSET, ['set', 'added']],
  [NFT_MSG_DELSET, ['set', 'deleted']],
  [NFT_MSG_NEWSETELEM, ['elements', 'added']],
  [NFT_MSG_DELSETELEM, ['elements', 'deleted']],
  [NFT_MSG_NEWOBJ, ['object', 'added']],
  [NFT_MSG_DELOBJ, ['object', 'deleted']],
  [NFT_MSG_NEWFLOWTABLE, ['flowtable', 'added']],
  [NFT_MSG_DELFLOWTABLE, ['flowtable', 'deleted']],
]);

/** The events in a datagram. Families that Pointsman does not use are left out. */
export function* eventsIn(datagram: Uint8Array): Generator<NftEvent> {
  for (const message of messagesOf(datagram)) {
    if (message.type >> 8 !== NFNL_SUBSYS_NFTABLES) continue;
    const number = message.type & 0xff;
    const event = number === NFT_MSG_NEWGEN ? generationEvent(message) : changeEvent(message, number);
    if (event !== undefined) yield event;
  }
}

function generationEvent({ payload, portId }: NetlinkMessage): NftEvent {
  const attributes = attributeMap(payload, NFGENMSG_LENGTH);
  return {
    kind: 'generation',
    generation: attributes.get(NFTA_GEN_ID)?.readUInt32BE() ?? 0,
    portId,
    processId: attributes.get(NFTA_GEN_PROC_PID)?.readUInt32BE() ?? 0,
    processName: stringOf(attributes.get(NFTA_GEN_PROC_NAME) ?? Buffer.alloc(0)),
  };
}

function changeEvent({ payload, portId }: NetlinkMessage, number: number): NftEvent | undefined {
  const family = familyOfNumber(payload[0]);
  const what = OBJECTS.get(number);
  if (family === undefined || what === undefined) return undefined;
  const [object, action] = what;
  for (const attribute of attributesOf(payload, NFGENMSG_LENGTH)) {
    if (attribute.type !== NFTA_TABLE) continue;
    return { kind: 'change', family, table: stringOf(attribute.payload), object, action, portId };
  }
  return undefined;
}
