// The tables are written for IPv4. For IPv6 every address in them has a counterpart of the same part in the fixture.
import { FAMILIES, type Family } from '../../src/model/address.ts';
import { isObject, type JsonObject } from '../../src/model/decode.ts';
import type { Scenario } from './scenario.ts';

/** The families that a scenario is run over. */
export function familiesOf(scenario: Scenario): readonly Family[] {
  return scenario.ipv4Only === undefined ? FAMILIES : ['IPv4'];
}

/** What stands in the tables in IPv6, as the other family, and what becomes of it in turn. */
const OPPOSITES: Readonly<Record<string, string>> = {
  IPv4: 'IPv6',
  IPv6: 'IPv4',
  '2001:db8::/32': '198.51.100.0/24',
  '2001:db8::9': '198.51.100.9',
  'fd00:50:1::7': '10.50.1.7',
  'fd00:96::10': '10.96.0.10',
};
const RANGES: Readonly<Record<string, string>> = {
  '0.0.0.0/0': '::/0',
  '10.50.0.0/16': 'fd00:50::/32',
  '10.50.1.0/24': 'fd00:50:1::/48',
  '10.96.0.0/16': 'fd00:96::/96',
  '10.97.0.0/16': 'fd00:97::/96',
  '127.0.0.0/8': '::1/128',
  '192.0.2.0/24': '2001:db8:1:2::/64',
  '192.0.3.0/24': '2001:db8:1:3::/64',
  '198.51.100.0/24': '2001:db8:51::/64',
  '198.51.100.0/25': '2001:db8:51::/64',
  '203.0.113.0/24': '2001:db8:113::/64',
};
const PREFIXES: readonly (readonly [RegExp, string])[] = [
  [/^10\.50\.(\d+)\.(\d+)$/, 'fd00:50:$1::$2'],
  [/^10\.96\.0\.(\d+)$/, 'fd00:96::$1'],
  [/^10\.96\.(\d+)\.(\d+)$/, 'fd00:96::$1:$2'],
  [/^192\.0\.(\d+)\.(\d+)$/, '2001:db8:1:$1::$2'],
  [/^198\.18\.0\.(\d+)$/, '2001:db8:18::$1'],
  [/^198\.51\.100\.(\d+)$/, '2001:db8:51::$1'],
  [/^203\.0\.113\.(\d+)$/, '2001:db8:113::$1'],
  [/^127\.0\.0\.1$/, '::1'],
];

/** An address or CIDR of the tables in this family; other text stays. Throws for one that has no counterpart. */
export function textIn(family: Family, text: string): string {
  if (family === 'IPv4') return text;
  const opposite = OPPOSITES[text];
  if (opposite !== undefined) return opposite;
  const [, space = '', value = ''] = /^(\s*)(\d+\.\d+\.\d+\.\d+(?:\/\d+)?)$/.exec(text) ?? [];
  if (value === '') return text;
  const range = RANGES[value];
  if (range !== undefined) return space + range;
  for (const [pattern, replacement] of PREFIXES)
    if (pattern.test(value)) return space + value.replace(pattern, replacement);
  throw new Error(`'${text}' has no counterpart in IPv6: add one, or mark the scenario as ipv4Only`);
}

/** Every text in an object, in this family. */
export function objectIn(family: Family, object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, valueIn(family, value)]));
}

function valueIn(family: Family, value: unknown): unknown {
  if (typeof value === 'string') return textIn(family, value);
  if (Array.isArray(value)) return value.map((item) => valueIn(family, item));
  return isObject(value) ? objectIn(family, value) : value;
}
