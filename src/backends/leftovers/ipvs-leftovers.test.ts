// Which virtual servers, sets and devices go, against a kernel of our own; the real one is asked in test/leftovers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel, DirectProtocol } from '../../kernel/direct.ts';
import { writeFamily } from '../../kernel/genl/family.ts';
import {
  IPVS_CMD_NEW_SERVICE,
  type VirtualServer,
  virtualServersIn,
  writeServerMessage,
} from '../../kernel/genl/ipvs.ts';
import { writeSet } from '../../kernel/ipset/ipset.ts';
import { messagesOf } from '../../kernel/netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../../kernel/netlink/writer.ts';
import { writeAddress } from '../../kernel/route/addresses.ts';
import { type Link, writeLink } from '../../kernel/route/links.ts';
import { removeIpvsLeftovers } from './ipvs-leftovers.ts';
import { kubeSetsOf } from './kube-sets.ts';
import type { ReportInWork } from './report.ts';

const IPVS_TYPE = 33;
const GETLINK = 18;
const DELLINK = 17;
const IPSET_DESTROY = (6 << 8) | 3;
const GETFAMILY_TYPE = 16;
const TCP = 6;

const ip = (text: string): Uint8Array => Uint8Array.from(text.split('.').map(Number));
const server = (address: string, port: number, protocol = TCP): VirtualServer => ({
  kind: 'address',
  address: ip(address),
  port,
  protocol,
});

interface World {
  readonly device?: Link;
  readonly addresses: readonly (readonly [index: number, address: string])[];
  readonly servers: readonly VirtualServer[];
  readonly sets: ReadonlyMap<string, readonly number[]>;
  /** Errno of each removal of a virtual server. */
  readonly refuse?: number;
  readonly busySets?: readonly string[];
  readonly files?: readonly string[];
}

interface Outcome extends ReportInWork {
  readonly removedServers: readonly VirtualServer[];
  readonly destroyedSets: readonly string[];
  readonly linkRemoved: boolean;
  readonly asked: readonly DirectProtocol[];
}

const FILES = ['/proc/net/ip_vs', '/sys/module', '/sys/module/ip_set'];

const refusal = (errno: number): PointsmanError =>
  new PointsmanError('E_NETLINK', `the kernel refused a netlink request: ${errno}`, { facts: { errno } });

const bytes = (write: (writer: NetlinkWriter) => void): readonly Uint8Array[] => {
  const writer = createNetlinkWriter();
  write(writer);
  return [writer.finish()];
};

/** The set's name stands behind the protocol: 16 of nlmsghdr, 4 of nfgenmsg, 8 of the protocol, 4 of the header. */
const setNameIn = (request: Uint8Array): string =>
  Buffer.from(request.subarray(32)).toString('utf8').split('\0')[0] ?? '';

function cleanUp(world: World): Outcome {
  const removedServers: VirtualServer[] = [];
  const destroyedSets: string[] = [];
  const asked: DirectProtocol[] = [];
  let linkRemoved = false;
  const kernel: Pick<DirectKernel, 'dump' | 'request'> = {
    dump(protocol, request) {
      asked.push(protocol);
      if (protocol === 'route')
        return bytes((writer) => {
          for (const [interfaceIndex, address] of world.addresses)
            writeAddress(writer, { address: ip(address), prefix: 32, interfaceIndex, gone: false }, 1);
        });
      if (protocol === 'generic')
        return bytes((writer) => {
          for (const one of world.servers) writeServerMessage(writer, IPVS_TYPE, IPVS_CMD_NEW_SERVICE, one);
        });
      const wanted = setNameIn(request);
      return bytes((writer) => {
        for (const [name, ports] of world.sets)
          if (wanted === name || !world.sets.has(wanted))
            writeSet(
              writer,
              name,
              ports.map((port) => ({ port })),
            );
      });
    },
    request(protocol, request) {
      asked.push(protocol);
      const [message] = [...messagesOf(request)];
      switch (message?.type) {
        case GETLINK: {
          const { device } = world;
          if (device === undefined) throw refusal(19);
          return bytes((writer) => writeLink(writer, device));
        }
        case DELLINK:
          linkRemoved = true;
          return [];
        case GETFAMILY_TYPE:
          return bytes((writer) => writeFamily(writer, 'IPVS', IPVS_TYPE));
        case IPVS_TYPE: {
          if (world.refuse !== undefined) throw refusal(world.refuse);
          // A removal names its virtual server as a dump does, under another command.
          const copy = Uint8Array.from(request);
          copy[16] = IPVS_CMD_NEW_SERVICE;
          removedServers.push(...virtualServersIn(copy, IPVS_TYPE));
          return [];
        }
        case IPSET_DESTROY: {
          const name = setNameIn(request);
          if (world.busySets?.includes(name) === true) throw refusal(4100);
          destroyedSets.push(name);
          return [];
        }
        default:
          throw new Error(`a request of type ${message?.type}`);
      }
    },
  };
  const report: ReportInWork = { removed: [], left: [], failures: [] };
  removeIpvsLeftovers({ kernel, exists: (path) => (world.files ?? FILES).includes(path) }, report);
  return { ...report, removedServers, destroyedSets, linkRemoved, asked };
}

const NODE: World = {
  device: { index: 7, name: 'kube-ipvs0', kind: 'dummy' },
  addresses: [
    [1, '127.0.0.1'],
    [2, '192.0.2.11'],
    [2, '198.51.100.40'],
    [7, '10.96.0.1'],
    [7, '203.0.113.7'],
  ],
  servers: [
    server('10.96.0.1', 443),
    server('203.0.113.7', 80),
    server('192.0.2.11', 30005),
    server('192.0.2.11', 30005, 17),
    server('192.0.2.11', 8443),
    server('198.51.100.40', 443),
    server('192.0.2.99', 30005),
    { kind: 'mark', mark: 7 },
  ],
  sets: new Map([
    ['KUBE-NODE-PORT-TCP', [30005]],
    ['KUBE-CLUSTER-IP', [443]],
    ['KUBE-6-CLUSTER-IP', [443]],
    ['my-set', [8443]],
  ]),
};

test("kube-proxy's virtual servers go, by their address or node port; everybody else's stay", () => {
  const { removedServers, removed, left, failures } = cleanUp(NODE);
  assert.deepEqual(removedServers, [
    server('10.96.0.1', 443),
    server('203.0.113.7', 80),
    server('192.0.2.11', 30005),
  ]);
  assert.deepEqual(removed, ['3 virtual servers of IPVS', 'device kube-ipvs0', '3 sets of ipset']);
  assert.deepEqual(
    left.map(({ what }) => what),
    ['5 virtual servers of IPVS'],
  );
  assert.deepEqual(failures, []);
});

test("sets go that bear kube-proxy's names, of both families", () => {
  assert.deepEqual(cleanUp(NODE).destroyedSets, [
    'KUBE-NODE-PORT-TCP',
    'KUBE-CLUSTER-IP',
    'KUBE-6-CLUSTER-IP',
  ]);
  const recorded = readFileSync(
    new URL('../../../test/fixtures/upstream/ipset-save.txt', import.meta.url),
    'utf8',
  );
  const names = [...recorded.matchAll(/^create (\S+)/gm)].map(([, name = '']) => name);
  assert.equal(names.length, 34);
  assert.deepEqual(
    kubeSetsOf([...names, 'KUBE-ROUTER', 'KUBE-CLUSTER-IPS', 'cali40all']).map(({ name }) => name),
    names,
  );
});

test('a set that a rule uses stays and is named; the others go', () => {
  const { destroyedSets, left } = cleanUp({ ...NODE, busySets: ['KUBE-CLUSTER-IP'] });
  assert.deepEqual(destroyedSets, ['KUBE-NODE-PORT-TCP', 'KUBE-6-CLUSTER-IP']);
  assert.deepEqual(left.at(-1), { what: 'set KUBE-CLUSTER-IP', because: 'a rule still uses it' });
});

test('when virtual servers cannot be removed, what tells them apart stays for the next try', () => {
  const { failures, left, linkRemoved, destroyedSets } = cleanUp({ ...NODE, refuse: 16 });
  assert.deepEqual(
    failures.map(({ what }) => what),
    ['remove virtual servers'],
  );
  assert.deepEqual(
    left.map(({ what }) => what),
    ['5 virtual servers of IPVS', 'device kube-ipvs0', '3 sets of ipset'],
  );
  assert.equal(linkRemoved, false);
  assert.deepEqual(destroyedSets, []);
});

test('a virtual server that is gone meanwhile is no failure', () => {
  const { failures, linkRemoved } = cleanUp({ ...NODE, refuse: 3 });
  assert.deepEqual(failures, []);
  assert.equal(linkRemoved, true);
});

test('a device of that name that is no dummy stays', () => {
  const { linkRemoved, left } = cleanUp({
    ...NODE,
    device: { index: 7, name: 'kube-ipvs0', kind: 'bridge' },
  });
  assert.equal(linkRemoved, false);
  assert.deepEqual(left.at(-1), { what: 'device kube-ipvs0', because: 'it is no dummy device but bridge' });
});

test('on a node whose kernel has neither module in use, neither is asked, so neither is loaded', () => {
  const { asked, removed, left, failures } = cleanUp({
    addresses: [],
    servers: [],
    sets: new Map(),
    files: ['/sys/module'],
  });
  assert.deepEqual(asked, ['route']);
  assert.deepEqual([removed, left, failures], [[], [], []]);
});
