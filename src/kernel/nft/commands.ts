// What can be asked of nf_tables in one transaction: plain data, encoded by `transaction.ts`.
import type { Expression } from './expressions.ts';

export type NftFamily = 'ip' | 'ip6' | 'inet';

/** A table by family and name. */
export interface TableRef {
  readonly family: NftFamily;
  readonly table: string;
}

/** A chain that the kernel calls at a hook. `priority` is signed, as `nft` prints it (dstnat is -100). */
export interface Hook {
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  readonly priority: number;
}

export type Verdict =
  | { readonly kind: 'accept' | 'drop' | 'return' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

/**
 * One element of a set or map. `key` and `data` are laid out as the kernel's registers want them: each part of a
 * concatenation padded to 4 bytes. `keyEnd` is the inclusive end of an interval in a set with flag `interval`.
 */
export interface SetElement {
  /** Empty for the catch-all element, which `nft` prints as `*`. */
  readonly key: Uint8Array;
  readonly keyEnd?: Uint8Array;
  /** A value, or a verdict in a verdict map; absent in a plain set. */
  readonly data?: Uint8Array | Verdict;
  /** Where it is other than the set's own time-out. */
  readonly timeoutMs?: number;
  /** What is left of the time-out. */
  readonly expiresMs?: number;
}

/** The data type of one field of a key or value: nft's own type, which fixes how `nft` prints it. */
export type FieldType =
  | 'ipv4_addr'
  | 'ipv6_addr'
  | 'inet_proto'
  | 'inet_service'
  | 'mark'
  | 'classid'
  | 'ifname'
  | 'verdict';

/** A set of a rule's own, which has no name until the kernel gives it one, and comes and goes with the rule. */
export interface AnonymousSet {
  readonly key: readonly FieldType[];
  readonly data?: readonly FieldType[];
  readonly elements: readonly SetElement[];
}

/** A set (no `data`) or a map. The keys of an interval set are concatenations of at least two fields. */
export interface SetDefinition {
  readonly name: string;
  readonly key: readonly FieldType[];
  readonly data?: readonly FieldType[];
  readonly interval?: boolean;
  /** Elements are added by rules as packets come. */
  readonly dynamic?: boolean;
  /** Elements carry time-outs; this is the default one. */
  readonly timeoutMs?: number;
  readonly size?: number;
}

export type NftCommand =
  /** Adding what is there already, as it is, is no error; deleting what is not there is. */
  | ({ readonly op: 'add-table' | 'delete-table' } & TableRef)
  | ({
      readonly op: 'add-chain';
      readonly chain: string;
      readonly hook?: Hook;
      readonly policy?: 'accept' | 'drop';
    } & TableRef)
  /** `flush-chain` removes its rules, `delete-chain` the chain itself. */
  | ({ readonly op: 'flush-chain' | 'delete-chain'; readonly chain: string } & TableRef)
  | ({
      readonly op: 'add-rule';
      readonly chain: string;
      readonly expressions: readonly Expression[];
      readonly comment?: string;
    } & TableRef)
  | ({ readonly op: 'add-set'; readonly definition: SetDefinition } & TableRef)
  | ({ readonly op: 'flush-set' | 'delete-set'; readonly set: string } & TableRef)
  /** `destroy-elements` is a delete that does not mind what is not there (kernel 6.3 and newer). */
  | ({
      readonly op: 'add-elements' | 'delete-elements' | 'destroy-elements';
      readonly set: string;
      readonly elements: readonly SetElement[];
    } & TableRef);
