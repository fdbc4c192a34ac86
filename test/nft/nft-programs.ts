// The `nft` programs that the tests ask: the system's own, and those of other versions that POINTSMAN_TEST_NFT names
// (paths, with colons between them).
import { execFileSync, spawnSync } from 'node:child_process';
import type { TestNamespace } from '../kernel/test-namespace.ts';

export interface NftProgram {
  /** `1.0.6`. */
  readonly version: string;
  /** Runs it in a namespace and gives what it printed. Throws, with the reason, if it fails or crashes. */
  run(namespace: TestNamespace, arguments_: readonly string[], input?: string): string;
}

/** All of them; the system's own first. */
export function nftPrograms(): readonly [NftProgram, ...NftProgram[]] {
  const others = process.env.POINTSMAN_TEST_NFT?.split(':').filter((path) => path !== '') ?? [];
  return [programAt('nft'), ...others.map(programAt)];
}

function programAt(path: string): NftProgram {
  const version = /v(\S+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1] ?? path;
  return {
    version,
    run(namespace, arguments_, input) {
      const command = ['netns', 'exec', namespace.name, path, ...arguments_];
      const { status, signal, stdout, stderr } = spawnSync('ip', command, {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        ...(input !== undefined && { input }),
      });
      if (status === 0) return stdout;
      throw new Error(`nft ${version} ${arguments_.join(' ')}: ${signal ?? status} ${stderr.slice(0, 2000)}`);
    },
  };
}

/** The rules of each chain of a table in `nft list` output, without the line that says where a chain hangs. */
export function chainsOf(
  listing: string,
  family: string,
  table: string,
): ReadonlyMap<string, readonly string[]> {
  const start = listing.indexOf(`table ${family} ${table} {\n`);
  const end = listing.indexOf('\n}\n', start);
  if (start === -1 || end === -1) throw new Error(`no whole table ${family} ${table} in the listing`);
  const chains = new Map<string, string[]>();
  for (const [, chain = '', body = ''] of listing
    .slice(start, end)
    .matchAll(/\tchain (\S+) \{\n([\s\S]*?)\n?\t\}/g)) {
    const lines = body.split('\n').map((line) => line.trim());
    chains.set(
      chain,
      lines.filter((line) => line !== '' && !line.startsWith('type ')),
    );
  }
  return chains;
}
