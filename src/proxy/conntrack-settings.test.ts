import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConntrackConfig } from '../config/proxy-config.ts';
import {
  applyConntrackSettings,
  conntrackMax,
  conntrackSettings,
  HASH_SIZE,
  type SettingsAccess,
} from './conntrack-settings.ts';

const DEFAULTS: ConntrackConfig = {
  maxPerCore: 32_768,
  min: 131_072,
  tcpEstablished: 86_400,
  tcpCloseWait: 3600,
  tcpBeLiberal: false,
  udp: 0,
  udpStream: 0,
};

function createAccess(
  values: Readonly<Record<string, string>>,
  readOnly: readonly string[] = [],
): SettingsAccess & { readonly written: string[] } {
  const now = new Map(Object.entries(values));
  const written: string[] = [];
  const write = (name: string, value: number): void => {
    if (readOnly.includes(name)) throw new Error('EACCES');
    now.set(name, String(value));
    written.push(`${name}=${value}`);
  };
  return {
    written,
    write,
    writeFile: write,
    read: (name) => now.get(name) ?? '0',
    readFile: (name) => now.get(name),
  };
}

test('how large the table may be', () => {
  const table: readonly (readonly [string, Partial<ConntrackConfig>, number, number | undefined])[] = [
    ['S357 many cores are capped', {}, 64, 1_048_576],
    ['S358 few cores get the minimum', {}, 2, 131_072],
    ['S359 0 a core leaves it alone, whatever the minimum', { maxPerCore: 0, min: 500_000 }, 4, undefined],
    ['between both', {}, 8, 262_144],
    ['above the cap the minimum does not count', { min: 2_000_000 }, 64, 1_048_576],
  ];
  for (const [name, more, cores, expected] of table)
    assert.equal(conntrackMax({ ...DEFAULTS, ...more }, cores), expected, name);
});

test('zero sets nothing', () => {
  const nothing = {
    maxPerCore: 0,
    min: 0,
    tcpEstablished: 0,
    tcpCloseWait: 0,
    tcpBeLiberal: false,
    udp: 0,
    udpStream: 0,
  };
  assert.deepEqual(conntrackSettings(nothing, 4), []);
});

test('only what differs is written, and told with what it was', () => {
  const access = createAccess({
    'net.netfilter.nf_conntrack_max': '131072',
    'net.netfilter.nf_conntrack_tcp_timeout_established': '432000',
    'net.netfilter.nf_conntrack_tcp_timeout_close_wait': '3600',
  });
  assert.deepEqual(applyConntrackSettings({ ...DEFAULTS, tcpBeLiberal: true }, 2, access), [
    { name: 'net.netfilter.nf_conntrack_tcp_timeout_established', value: 86_400, before: '432000' },
    { name: 'net.netfilter.nf_conntrack_tcp_be_liberal', value: 1, before: '0' },
  ]);
});

test('S360 the hash table is made a fourth of the entries, never smaller than it is', () => {
  const small = createAccess({ 'net.netfilter.nf_conntrack_max': '131072', [HASH_SIZE]: '16384\n' });
  applyConntrackSettings({ ...DEFAULTS, tcpEstablished: 0, tcpCloseWait: 0 }, 2, small);
  assert.deepEqual(small.written, [`${HASH_SIZE}=32768`]);
  const large = createAccess({ 'net.netfilter.nf_conntrack_max': '131072', [HASH_SIZE]: '65536\n' });
  applyConntrackSettings({ ...DEFAULTS, tcpEstablished: 0, tcpCloseWait: 0 }, 2, large);
  assert.deepEqual(large.written, []);
});

test('S361 what cannot be set ends it with the name, the value and the way out; what is right already does not', () => {
  const max = 'net.netfilter.nf_conntrack_max';
  const config = { ...DEFAULTS, tcpEstablished: 0, tcpCloseWait: 0 };
  assert.throws(() => applyConntrackSettings(config, 2, createAccess({ [max]: '65536' }, [max])), {
    code: 'E_PERMISSION',
    message: `could not set conntrack parameters from kube-proxy configuration: ${max} is 65536 and should be 131072: EACCES`,
    hint: 'set it on the node, or set the flag to 0 to leave it alone',
  });
  assert.deepEqual(applyConntrackSettings(config, 2, createAccess({ [max]: '131072' }, [max])), []);
});
