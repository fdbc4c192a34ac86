// What nftables mode needs of the kernel. `netlink-port.ts` is the real one, tests bring their own.
import type { NftCommand, SetDefinition, SetElement, TableRef } from '../../kernel/nft/commands.ts';
import type { StaticState } from './static-state.ts';

/** One thing that the kernel refused in a transaction, which then was not committed at all. */
export interface Refusal {
  /** Which command, by its place in the list. */
  readonly command: number;
  readonly errno: number;
  /** `add elements to map endpoints: EEXIST (file exists), at NFTA_SET_ELEM_KEY`. */
  readonly text: string;
}

export type NftOutcome =
  | { readonly kind: 'committed'; readonly messages: number; readonly kernelMs: number }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[]; readonly messages: number }
  | { readonly kind: 'unknown'; readonly because: string; readonly messages: number };

export interface NftPort extends AsyncDisposable {
  /** One transaction: all commands or none. */
  commit(commands: readonly NftCommand[]): Promise<NftOutcome>;
  /** Chains, rules, sets and verdict elements of a table; undefined when there is no such table. */
  readStatic(table: TableRef): Promise<StaticState | undefined>;
  /** All elements of a set, some hundreds at a time. */
  elements(table: TableRef, set: SetDefinition): AsyncIterable<readonly SetElement[]>;
  /** Starts or stops noticing what others change in tables named `pointsman`. */
  listen(on: boolean): Promise<void>;
  /** Calls back after such a change, or when events were lost. Returns how to stop. */
  onForeignChange(callback: (because: string) => void): () => void;
}
