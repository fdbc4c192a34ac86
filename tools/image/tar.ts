// Archives in the ustar format (POSIX.1-1988), the same bytes for the same entries: sorted, all times zero.

/** What stands at a path; paths are relative, without a dot in front. */
export type Entry = {
  readonly path: string;
  /** Of user and group; root without it. */
  readonly owner?: number;
} & (
  | { readonly kind: 'file'; readonly data: Uint8Array; readonly mode?: number }
  | { readonly kind: 'folder'; readonly mode?: number }
  | { readonly kind: 'link'; readonly target: string }
);

const BLOCK = 512;
const TYPES = { file: '0', link: '2', folder: '5' } as const;

/** The archive. Throws for a path or link target that the format's name fields cannot hold, and for a path twice. */
export function tarOf(entries: readonly Entry[]): Buffer {
  // By code units, not by locale: the machine's language is no part of the image.
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const parts: Uint8Array[] = [];
  let before = '';
  for (const entry of sorted) {
    if (entry.path === before) throw new Error(`${entry.path} is in the archive twice`);
    before = entry.path;
    parts.push(headerOf(entry));
    if (entry.kind !== 'file') continue;
    parts.push(entry.data, Buffer.alloc(-entry.data.length & (BLOCK - 1)));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** The same entries and the folders above them that they lack, so that no reader has to make some up. */
export function withFolders(entries: readonly Entry[]): readonly Entry[] {
  const known = new Set(entries.map(({ path }) => path));
  const missing: Entry[] = [];
  for (const { path } of entries) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (known.has(folder)) break;
      known.add(folder);
      missing.push({ kind: 'folder', path: folder });
    }
  }
  return [...entries, ...missing];
}

function headerOf(entry: Entry): Buffer {
  const header = Buffer.alloc(BLOCK);
  const text = (value: string, at: number, room: number): void => {
    if (Buffer.byteLength(value) > room) throw new Error(`too long for a tar header: ${value}`);
    header.write(value, at);
  };
  const octal = (value: number, at: number, digits: number): void =>
    text(value.toString(8).padStart(digits, '0'), at, digits);

  const size = entry.kind === 'file' ? entry.data.length : 0;
  const name = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  text(name, 0, 100);
  octal(entry.kind === 'link' ? 0o777 : (entry.mode ?? (entry.kind === 'folder' ? 0o755 : 0o644)), 100, 7);
  octal(entry.owner ?? 0, 108, 7);
  octal(entry.owner ?? 0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  text(TYPES[entry.kind], 156, 1);
  if (entry.kind === 'link') text(entry.target, 157, 100);
  text('ustar\x0000', 257, 8);
  // The checksum counts its own field as spaces.
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header[154] = 0;
  return header;
}
