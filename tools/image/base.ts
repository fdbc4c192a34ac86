// What the program stands on: Node.js, the libraries of Debian that it and koffi are linked to, and a few files of /etc.
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { DebianPackage } from './debian.ts';
import type { Entry } from './tar.ts';

/** The user for clusters whose runtime gives a user that is not root its capabilities. */
export const USER_ID = 65532;
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** The packages, and which libraries of each: what the dynamic sections of node and koffi.node name. */
export const BASE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  libc6: ['ld-linux-x86-64.so.2', 'libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
  libatomic1: ['libatomic.so.1'],
};

/** For `--with-iptables`: the programs of both variants, with the libraries that they need. */
export const IPTABLES_PACKAGES = [
  'iptables',
  'libip4tc2',
  'libip6tc2',
  'libmnl0',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libnftnl11',
  'libxtables12',
] as const;

export function baseEntries(node: string, packages: readonly DebianPackage[]): readonly Entry[] {
  return [
    ...folders(),
    file('etc/passwd', [
      'root:x:0:0:root:/:/sbin/nologin',
      `pointsman:x:${USER_ID}:${USER_ID}:pointsman:/:/sbin/nologin`,
    ]),
    file('etc/group', ['root:x:0:', `pointsman:x:${USER_ID}:`]),
    file('etc/nsswitch.conf', ['hosts: files dns']),
    file(
      'etc/pointsman/packages.txt',
      packages.map(({ name, version, sha256 }) => `${name} ${version} sha256:${sha256}`),
    ),
    { kind: 'file', path: 'usr/local/bin/node', data: readFileSync(node), mode: 0o755 },
    link('lib', 'usr/lib'),
    link('lib64/ld-linux-x86-64.so.2', `/${LIBRARIES}/ld-linux-x86-64.so.2`),
    link('var/run', '/run'),
    ...packages.flatMap((from) => [
      ...(BASE_PACKAGES[from.name] ?? []).map((library) => libraryOf(from.folder, library)),
      copyrightEntry(from),
    ]),
  ];
}

/** The programs and extensions of the iptables packages; Debian's alternatives made a fixed choice, nf_tables. */
export function iptablesEntries(packages: readonly DebianPackage[]): readonly Entry[] {
  const programs = /^usr\/sbin\/(ip6?tables|xtables)-(nft|legacy)/;
  const libraries = new RegExp(`^${LIBRARIES}/(xtables/)?[^/]+\\.so[.\\d]*$`);
  const chosen = ['iptables', 'ip6tables'].flatMap((name) =>
    ['', '-save', '-restore'].map((end) => link(`usr/sbin/${name}${end}`, 'xtables-nft-multi')),
  );
  const extensions: Entry = { kind: 'folder', path: `${LIBRARIES}/xtables` };
  const found = packages
    .filter(({ name }) => !(name in BASE_PACKAGES))
    .flatMap(({ folder }) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => programs.test(path) || libraries.test(path))
        .map((path) => asEntry(folder, path)),
    );
  return [{ kind: 'folder', path: 'usr/sbin' }, link('sbin', 'usr/sbin'), extensions, ...chosen, ...found];
}

function folders(): readonly Entry[] {
  const plain = [
    ...['dev', 'etc', 'etc/pointsman', 'lib64', 'proc', 'run', 'sys', 'usr', 'usr/lib', LIBRARIES],
    ...['usr/local', 'usr/local/bin', 'usr/share', 'usr/share/doc', 'var'],
  ];
  return [
    ...plain.map((path): Entry => ({ kind: 'folder', path })),
    { kind: 'folder', path: 'run/pointsman', owner: USER_ID },
    { kind: 'folder', path: 'tmp', mode: 0o1777 },
  ];
}

const link = (path: string, target: string): Entry => ({ kind: 'link', path, target });
const file = (path: string, lines: readonly string[]): Entry => ({
  kind: 'file',
  path,
  data: Buffer.from(`${lines.join('\n')}\n`),
});

/** Under its soname, which is how it is asked for, wherever the package has it. */
function libraryOf(folder: string, name: string): Entry {
  const places = [LIBRARIES, posix.relative('usr', LIBRARIES)].map((place) => join(folder, place, name));
  const found = places.find((place) => lstatSync(place, { throwIfNoEntry: false }) !== undefined);
  if (found === undefined) throw new Error(`there is no ${name} in ${folder}`);
  return { kind: 'file', path: `${LIBRARIES}/${name}`, data: readFileSync(realpathSync(found)), mode: 0o755 };
}

/** The package whose documentation folder a package uses by a link, as those of gcc do. */
export function documentedBy({ folder, name }: DebianPackage): string | undefined {
  const place = join(folder, 'usr/share/doc', name);
  return lstatSync(place).isSymbolicLink() ? readlinkSync(place) : undefined;
}

function copyrightEntry(from: DebianPackage): Entry {
  const path = `usr/share/doc/${from.name}`;
  const other = documentedBy(from);
  if (other !== undefined) return link(path, other);
  return {
    kind: 'file',
    path: `${path}/copyright`,
    data: readFileSync(join(from.folder, path, 'copyright')),
  };
}

function asEntry(folder: string, path: string): Entry {
  const place = join(folder, path);
  const status = lstatSync(place);
  return status.isSymbolicLink()
    ? link(path, readlinkSync(place))
    : { kind: 'file', path, data: readFileSync(place), mode: status.mode & 0o777 };
}
