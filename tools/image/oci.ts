// An image in the layout of the OCI image specification 1.1, as one archive. It also carries the manifest.json that
// `docker load` of before version 25 reads; other readers pass over it.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Entry, tarOf, withFolders } from './tar.ts';

export interface Layer {
  readonly entries: readonly Entry[];
  /** For the image's history. */
  readonly madeBy: string;
}

export interface ImageOptions {
  /** The name under which it is loaded, such as `pointsman:0.1.0`. */
  readonly name: string;
  readonly layers: readonly Layer[];
  /** The `config` of the image configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Image {
  readonly archive: Buffer;
  /** Of the manifest: what a registry calls the image's digest. */
  readonly digest: string;
}

/** All times are this one: the image depends on its content alone. */
const CREATED = '1970-01-01T00:00:00Z';
const TYPE = 'application/vnd.oci.image';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export function imageOf({ name, layers, config, annotations }: ImageOptions): Image {
  const blobs = new Map<string, Uint8Array>();
  const keep = (mediaType: string, data: Uint8Array): Descriptor => {
    const digest = digestOf(data);
    blobs.set(blobPath(digest), data);
    return { mediaType, digest, size: data.length };
  };

  const packed = layers.map(({ entries, madeBy }) => {
    const tar = tarOf(withFolders(entries));
    const descriptor = keep(`${TYPE}.layer.v1.tar+gzip`, gzipSync(tar, { level: 6 }));
    return { descriptor, diffId: digestOf(tar), madeBy };
  });
  const configuration = keep(
    `${TYPE}.config.v1+json`,
    json({
      created: CREATED,
      architecture: 'amd64',
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: packed.map(({ diffId }) => diffId) },
      history: packed.map(({ madeBy }) => ({ created: CREATED, created_by: madeBy })),
    }),
  );
  const manifest = keep(
    `${TYPE}.manifest.v1+json`,
    json({
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: configuration,
      layers: packed.map(({ descriptor }) => descriptor),
      annotations,
    }),
  );
  const names = {
    'io.containerd.image.name': name.includes('/') ? name : `docker.io/library/${name}`,
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
  };
  const platform = { architecture: 'amd64', os: 'linux' };
  const index = {
    schemaVersion: 2,
    mediaType: `${TYPE}.index.v1+json`,
    manifests: [{ ...manifest, platform, annotations: names }],
  };
  const forDocker = [
    {
      Config: blobPath(configuration.digest),
      RepoTags: [name],
      Layers: packed.map(({ descriptor }) => blobPath(descriptor.digest)),
    },
  ];
  const archive = tarOf([
    { kind: 'folder', path: 'blobs' },
    { kind: 'folder', path: 'blobs/sha256' },
    ...[...blobs].map(([path, data]): Entry => ({ kind: 'file', path, data })),
    { kind: 'file', path: 'index.json', data: json(index) },
    { kind: 'file', path: 'manifest.json', data: json(forDocker) },
    { kind: 'file', path: 'oci-layout', data: json({ imageLayoutVersion: '1.0.0' }) },
  ]);
  return { archive, digest: manifest.digest };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const digestOf = (data: Uint8Array): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;
const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;
