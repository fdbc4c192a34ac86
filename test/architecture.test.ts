// The rooms of the house and who may import whom (docs/architecture.md). An import outside this table fails here.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  kernel: ['base'],
  kube: ['base'],
  model: ['base'],
  plan: ['base', 'model'],
  backends: ['base', 'model', 'plan', 'kernel'],
  config: ['base', 'model'],
  observe: ['base', 'model', 'plan', 'kernel', 'backends'],
  proxy: ['base', 'kernel', 'kube', 'model', 'plan', 'backends', 'observe', 'config'],
  lab: ['base', 'kernel', 'model'],
  web: ['base'],
  cli: ['base', 'kernel', 'kube', 'model', 'plan', 'backends', 'proxy', 'observe', 'config', 'lab', 'web'],
};
/** Packages a room may import beside node: itself; `*` is every room. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'ipaddr.js': ['model', 'lab'],
  commander: ['cli', 'config'],
  koffi: ['kernel'],
  pino: ['observe'],
  'prom-client': ['observe'],
  valibot: ['*'],
  yaml: ['kube', 'config', 'cli', 'lab'],
};

interface Import {
  readonly file: string;
  readonly target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const pattern = /(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)['"]([^'"]+)['"]/gm;
  return [...text.matchAll(pattern)].map((match) => ({ file, target: match[1] ?? '' }));
}

const roomOf = (path: string): string => path.split('/')[1] ?? '';
const sources = globSync('src/*/**/*.ts');

test('every folder of src is a room', () => {
  const folders = new Set(sources.map(roomOf));
  assert.deepEqual(
    [...folders].filter((folder) => !(folder in ROOMS)),
    [],
  );
});

test('a room imports only what the table allows', () => {
  const wrong: string[] = [];
  for (const { file, target } of sources.flatMap(importsOf)) {
    const from = roomOf(file);
    if (target.startsWith('node:')) continue;
    if (target.startsWith('.')) {
      const path = normalize(join(dirname(file), target));
      if (!target.endsWith('.ts')) wrong.push(`${file}: ${target} has no .ts ending`);
      const to = roomOf(path);
      if (to !== from && !(ROOMS[from] ?? []).includes(to))
        wrong.push(`${file}: ${from} may not import ${path}`);
      continue;
    }
    if (/\.test\.ts$/.test(file) && target === 'fast-check') continue;
    const allowed = PACKAGES[target] ?? [];
    if (!allowed.includes(from) && !allowed.includes('*'))
      wrong.push(`${file}: ${from} may not import ${target}`);
  }
  assert.deepEqual(wrong, []);
});

test('one backend does not import another', () => {
  const wrong = sources
    // What removes the traces of all modes knows them all.
    .filter((file) => file.startsWith('src/backends/') && !file.startsWith('src/backends/leftovers/'))
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith('.'))
    .map(({ file, target }) => ({ file, path: normalize(join(dirname(file), target)) }))
    .filter(
      ({ file, path }) =>
        path.split('/').length > 3 &&
        path.startsWith('src/backends/') &&
        path.split('/')[2] !== file.split('/')[2],
    )
    .map(({ file, path }) => `${file}: ${path}`);
  assert.deepEqual(wrong, []);
});

test('FFI is used only inside kernel/sys', () => {
  const wrong = sources
    .flatMap(importsOf)
    .filter(({ file, target }) => target === 'koffi' && !file.startsWith('src/kernel/sys/'));
  assert.deepEqual(wrong, []);
});
