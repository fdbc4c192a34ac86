// Numbers of linux/netfilter/nf_tables.h that several files here use; an attribute used by one file stands in that file.
import type { NftFamily } from './commands.ts';

// enum nf_tables_msg_types; NEWGEN and GETGEN are with the batches in netlink/nfnetlink.ts.
export const NFT_MSG_NEWTABLE = 0;
export const NFT_MSG_GETTABLE = 1;
export const NFT_MSG_DELTABLE = 2;
export const NFT_MSG_NEWCHAIN = 3;
export const NFT_MSG_GETCHAIN = 4;
export const NFT_MSG_DELCHAIN = 5;
export const NFT_MSG_NEWRULE = 6;
export const NFT_MSG_GETRULE = 7;
export const NFT_MSG_DELRULE = 8;
export const NFT_MSG_NEWSET = 9;
export const NFT_MSG_GETSET = 10;
export const NFT_MSG_DELSET = 11;
export const NFT_MSG_NEWSETELEM = 12;
export const NFT_MSG_GETSETELEM = 13;
export const NFT_MSG_DELSETELEM = 14;
export const NFT_MSG_NEWGEN = 15;
export const NFT_MSG_NEWOBJ = 18;
export const NFT_MSG_DELOBJ = 20;
export const NFT_MSG_NEWFLOWTABLE = 22;
export const NFT_MSG_DELFLOWTABLE = 24;
/** Linux 6.3 and newer. */
export const NFT_MSG_DESTROYSETELEM = 30;

export const NFTA_LIST_ELEM = 1;

/** The name under which a batch adds a set of a rule's own: the kernel puts a number in. */
export const ANONYMOUS_NAME = '__set%d';

/** linux/netfilter.h, nfgen_family. */
export const NFPROTO: Readonly<Record<NftFamily, number>> = { inet: 1, ip: 2, ip6: 10 };

/** The family of a message about an object; undefined for bridge, arp, netdev. */
export function familyOfNumber(nfproto: number | undefined): NftFamily | undefined {
  for (const family of ['ip', 'ip6', 'inet'] as const) if (NFPROTO[family] === nfproto) return family;
  return undefined;
}
