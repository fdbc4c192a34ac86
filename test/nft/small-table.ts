// A small table for tests of the codec: a map `ports`, a set `addresses`, a chain `one`.
import assert from 'node:assert/strict';
import type { NftCommand, SetDefinition, SetElement } from '../../src/kernel/nft/commands.ts';
import type { CommitFailure, Nftables } from '../../src/kernel/nft/nftables.ts';

export const TABLE: { readonly family: 'ip'; readonly table: 'pt' } = { family: 'ip', table: 'pt' };
const MAP: SetDefinition = { name: 'ports', key: ['ipv4_addr', 'inet_service'], data: ['mark'] };
export const FRAME: readonly NftCommand[] = [
  { op: 'add-table', ...TABLE },
  { op: 'add-set', ...TABLE, definition: MAP },
  { op: 'add-set', ...TABLE, definition: { name: 'addresses', key: ['ipv4_addr'] } },
  { op: 'add-chain', ...TABLE, chain: 'one' },
];

/** The key 10.0.x.y . port and the value `mark`. */
export function element(number: number, mark: number): SetElement {
  const key = Uint8Array.of(10, 0, number >> 8, number & 0xff, 0, 80, 0, 0);
  return { key, data: new Uint8Array(Uint32Array.of(mark).buffer) };
}
export const keyOf = ({ key }: SetElement): SetElement => ({ key });
export const add = (...elements: readonly SetElement[]): NftCommand => ({
  op: 'add-elements',
  ...TABLE,
  set: 'ports',
  elements,
});
export const remove = (...elements: readonly SetElement[]): NftCommand => ({
  op: 'delete-elements',
  ...TABLE,
  set: 'ports',
  elements: elements.map(keyOf),
});

export async function refused(
  nft: Nftables,
  commands: readonly NftCommand[],
): Promise<readonly CommitFailure[]> {
  const outcome = await nft.commit(commands);
  assert.equal(outcome.kind, 'refused');
  return outcome.kind === 'refused' ? outcome.failures : [];
}

export const elementsOf = async (nft: Nftables, set = 'ports'): Promise<readonly SetElement[]> =>
  (await Array.fromAsync(nft.elements(TABLE, set))).sort((a, b) => Buffer.compare(a.key, b.key));
