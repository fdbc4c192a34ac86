// The real NftPort: nf_tables over the kernel thread.
import type { KernelClient, Subscription } from '../../kernel/client.ts';
import type { Hook, NftCommand, SetElement, TableRef } from '../../kernel/nft/commands.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import { createNftables } from '../../kernel/nft/nftables.ts';
import type { NftOutcome, NftPort } from './nft-port.ts';
import { addVerdicts, type StaticState } from './static-state.ts';

/** `table` is the name whose changes by others are reported, in any family. The client is closed with the port. */
export function createNetlinkPort(client: KernelClient, table: string): NftPort {
  const nft = createNftables(client);
  const listeners = new Set<(because: string) => void>();
  let subscription: Subscription | undefined;
  const tell = (because: string): void => {
    for (const listener of listeners) listener(because);
  };

  return {
    async commit(commands: readonly NftCommand[]): Promise<NftOutcome> {
      const outcome = await nft.commit(commands);
      if (outcome.kind !== 'refused') return outcome;
      const refusals = outcome.failures.map(({ commandIndex, errno, text }) => ({
        command: commandIndex ?? -1,
        errno,
        text,
      }));
      return { kind: 'refused', refusals, messages: outcome.messages };
    },
    async readStatic(ref: TableRef): Promise<StaticState | undefined> {
      const contents = await nft.readTable(ref);
      if (contents === undefined) return undefined;
      const chains = new Map<string, { hook?: Hook; rules: (readonly Expression[])[] }>();
      for (const { chain, hook } of contents.chains)
        chains.set(chain, { ...(hook ? { hook } : {}), rules: [] });
      for (const { chain, expressions } of contents.rules) chains.get(chain)?.rules.push(expressions);
      const sets = new Map(
        contents.sets.flatMap(({ name, definition }) => (definition ? [[name, definition] as const] : [])),
      );
      const verdicts: Parameters<typeof addVerdicts>[0] = new Map();
      for (const { name, data } of sets.values()) {
        if (data?.[0] !== 'verdict') continue;
        const elements: SetElement[] = await Array.fromAsync(nft.elements(ref, name));
        addVerdicts(verdicts, name, elements);
      }
      return { sets, chains, verdicts };
    },
    elements: (ref, { name }) => nft.elementBatches(ref, name),
    async listen(on) {
      if (on && subscription === undefined) {
        subscription = await nft.watch({
          onForeignChange(change) {
            if (change.table === table) {
              tell(
                `${change.processName || 'a process'} (pid ${change.processId}) changed table ${change.family} ${table}: ${change.what}`,
              );
            }
          },
          onLost: () => tell('nftables events were lost'),
        });
      } else if (!on && subscription !== undefined) {
        const closing = subscription;
        subscription = undefined;
        await closing.close();
      }
    },
    onForeignChange(callback) {
      listeners.add(callback);
      return () => {
        listeners.delete(callback);
      };
    },
    async [Symbol.asyncDispose]() {
      await subscription?.close();
      await client.close();
    },
  };
}
