// Chains: NFT_MSG_NEWCHAIN and its kin. A chain with a hook is called by the kernel, others by rules.
import { NLM_F_CREATE } from '../netlink/constants.ts';
import { attributeMap, stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { Hook, NftCommand, TableRef } from './commands.ts';
import { NFT_MSG_DELCHAIN, NFT_MSG_GETCHAIN, NFT_MSG_NEWCHAIN } from './constants.ts';
import { beginNftMessage, dumpRequest, objectsIn } from './message.ts';

const NFTA_CHAIN_TABLE = 1;
const NFTA_CHAIN_NAME = 3;
const NFTA_CHAIN_HOOK = 4;
const NFTA_CHAIN_POLICY = 5;
const NFTA_CHAIN_TYPE = 7;
const NFTA_HOOK_HOOKNUM = 1;
const NFTA_HOOK_PRIORITY = 2;

/** enum nf_inet_hooks. */
const HOOK_NUMBERS: Readonly<Record<Hook['hook'], number>> = {
  prerouting: 0,
  input: 1,
  forward: 2,
  output: 3,
  postrouting: 4,
};
/** linux/netfilter.h. */
const NF_DROP = 0;
const NF_ACCEPT = 1;

/** A chain as the kernel tells of it. */
export interface Chain extends TableRef {
  readonly chain: string;
  /** Absent for a chain that only rules call, and for one on a hook that Pointsman does not use. */
  readonly hook?: Hook;
  readonly policy?: 'accept' | 'drop';
}

/** Adds a chain. */
export function writeChain(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, chain, hook, policy }: Extract<NftCommand, { readonly op: 'add-chain' }>,
): void {
  beginNftMessage(writer, NFT_MSG_NEWCHAIN, NLM_F_CREATE, sequence, family);
  writer.string(NFTA_CHAIN_TABLE, table);
  writer.string(NFTA_CHAIN_NAME, chain);
  if (hook !== undefined) {
    const nested = writer.beginNested(NFTA_CHAIN_HOOK);
    writer.be32(NFTA_HOOK_HOOKNUM, HOOK_NUMBERS[hook.hook]);
    writer.be32(NFTA_HOOK_PRIORITY, hook.priority);
    writer.endNested(nested);
    writer.string(NFTA_CHAIN_TYPE, hook.type);
  }
  if (policy !== undefined) writer.be32(NFTA_CHAIN_POLICY, policy === 'drop' ? NF_DROP : NF_ACCEPT);
  writer.endMessage();
}

/** Deletes a chain that is empty and that no rule or element leads to. */
export function writeDeleteChain(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, chain }: TableRef & { readonly chain: string },
): void {
  beginNftMessage(writer, NFT_MSG_DELCHAIN, 0, sequence, family);
  writer.string(NFTA_CHAIN_TABLE, table);
  writer.string(NFTA_CHAIN_NAME, chain);
  writer.endMessage();
}

/** Asks for the chains of a family; the kernel cannot narrow it to a table. */
export function chainsRequest({ family }: TableRef): Uint8Array<ArrayBuffer> {
  return dumpRequest(NFT_MSG_GETCHAIN, family);
}

/** The chains in the answer. */
export function* chainsIn(datagrams: Iterable<Uint8Array>): Generator<Chain> {
  for (const { family, attributes } of objectsIn(datagrams, NFT_MSG_NEWCHAIN)) {
    const table = attributes.get(NFTA_CHAIN_TABLE);
    const name = attributes.get(NFTA_CHAIN_NAME);
    if (table === undefined || name === undefined) continue;
    const hook = hookOf(attributes.get(NFTA_CHAIN_HOOK), attributes.get(NFTA_CHAIN_TYPE));
    const policy = attributes.get(NFTA_CHAIN_POLICY)?.readUInt32BE();
    yield {
      family,
      table: stringOf(table),
      chain: stringOf(name),
      ...(hook && { hook }),
      ...(policy !== undefined && { policy: policy === NF_DROP ? 'drop' : 'accept' }),
    };
  }
}

function hookOf(payload: Buffer | undefined, typeName: Buffer | undefined): Hook | undefined {
  if (payload === undefined || typeName === undefined) return undefined;
  const attributes = attributeMap(payload);
  const number = attributes.get(NFTA_HOOK_HOOKNUM)?.readUInt32BE();
  const priority = attributes.get(NFTA_HOOK_PRIORITY)?.readInt32BE();
  const type = (['filter', 'nat', 'route'] as const).find((name) => name === stringOf(typeName));
  for (const hook of ['prerouting', 'input', 'forward', 'output', 'postrouting'] as const) {
    if (HOOK_NUMBERS[hook] === number && priority !== undefined && type) return { type, hook, priority };
  }
  return undefined;
}
