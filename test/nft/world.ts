// A namespace of the test's own with a client to its kernel.
import { createKernelClient, type KernelClient } from '../../src/kernel/client.ts';
import { type CommitOutcome, createNftables, type Nftables } from '../../src/kernel/nft/nftables.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';

export interface World extends AsyncDisposable {
  readonly namespace: TestNamespace;
  readonly client: KernelClient;
  readonly nft: Nftables;
}

export async function createWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const namespace = stack.use(createTestNamespace());
  const client = stack.use(await createKernelClient({ namespace: namespace.path }));
  const owned = stack.move();
  return {
    namespace,
    client,
    nft: createNftables(client),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Throws, with the kernel's reasons, unless the transaction was committed. */
export function committed(outcome: CommitOutcome): CommitOutcome & { readonly kind: 'committed' } {
  if (outcome.kind === 'committed') return outcome;
  throw new Error(
    outcome.kind === 'unknown' ? outcome.because : outcome.failures.map(({ text }) => text).join('\n'),
  );
}
