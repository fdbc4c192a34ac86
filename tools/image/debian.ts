// Debian packages as apt would install them, fetched once and unpacked without installing anything.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Where its files lie. */
  readonly folder: string;
}

/** Fetches and unpacks the candidates of these names, each into a folder of its own under `into`; needs the network only
 * for what is not in the cache. */
export function unpackDebian(
  names: readonly string[],
  cache: string,
  into: string,
): readonly DebianPackage[] {
  mkdirSync(cache, { recursive: true });
  return announced(names).map(({ file, sha256 }) => {
    const archive = join(cache, file);
    const isThere = (): boolean => existsSync(archive) && sha256Of(archive) === sha256;
    const [name = '', version = ''] = decodeURIComponent(file).split('_');
    if (!isThere())
      execFileSync('apt-get', ['download', `${name}=${version}`], { cwd: cache, stdio: 'ignore' });
    if (!isThere()) throw new Error(`${archive} has not the SHA-256 ${sha256} that apt's lists state`);
    const folder = join(into, name);
    execFileSync('dpkg-deb', ['--extract', archive, folder]);
    return { name, version, sha256, folder };
  });
}

/** What apt would download: lines of `'URI' FILE SIZE SHA256:HEX`. */
function announced(names: readonly string[]): readonly { readonly file: string; readonly sha256: string }[] {
  const ask = (): string =>
    execFileSync('apt-get', ['download', '--print-uris', ...names], { encoding: 'utf8', stdio: 'pipe' });
  let answer: string;
  try {
    answer = ask();
  } catch {
    execFileSync('apt-get', ['update'], { stdio: 'ignore' });
    answer = ask();
  }
  const found = [...answer.matchAll(/^'\S+' (\S+) \d+ SHA256:([0-9a-f]{64})$/gm)];
  if (found.length !== names.length)
    throw new Error(`apt does not know all of ${names.join(', ')}:\n${answer}`);
  return found.map(([, file = '', sha256 = '']) => ({ file, sha256 }));
}

const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
