// Builds the container image, without a container engine: main.ts [--with-iptables] [--output FILE].
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildImage } from './build.ts';
import type { Entry } from './tar.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    'with-iptables': { type: 'boolean', default: false },
    output: { type: 'string', default: join(root, 'build/pointsman-image.tar') },
  },
});
const built = await buildImage({ root, withIptables: values['with-iptables'] });
mkdirSync(dirname(values.output), { recursive: true });
writeFileSync(`${values.output}.new`, built.archive);
renameSync(`${values.output}.new`, values.output);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const sizeOf = (entry: Entry): number => (entry.kind === 'file' ? entry.data.length : 0);
for (const { entries } of built.layers) {
  for (const entry of entries.toSorted((a, b) => sizeOf(b) - sizeOf(a))) {
    if (entry.kind === 'file') console.log(`${String(entry.data.length).padStart(10)}  /${entry.path}`);
    if (entry.kind === 'link') console.log(`${'link'.padStart(10)}  /${entry.path} -> ${entry.target}`);
  }
}
const unpacked = built.layers.flatMap(({ entries }) => entries).reduce((sum, each) => sum + sizeOf(each), 0);
console.log(
  `${built.name}: ${megabytes(unpacked)} unpacked, ${megabytes(built.archive.length)} as ${values.output}`,
);
console.log(`digest ${built.digest}`);
