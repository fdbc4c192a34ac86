// The data types of set keys and values (nft's include/datatype.h). To the kernel they are numbers that it keeps and
// hands out again; `nft` prints by them.
import type { FieldType } from './commands.ts';

interface Field {
  /** enum datatypes: TYPE_IPADDR and so on. */
  readonly type: number;
  /** In bytes, without padding. */
  readonly length: number;
  readonly order: 'network' | 'host';
}

const FIELDS: Readonly<Record<Exclude<FieldType, 'verdict'>, Field>> = {
  ipv4_addr: { type: 7, length: 4, order: 'network' },
  ipv6_addr: { type: 8, length: 16, order: 'network' },
  inet_proto: { type: 12, length: 1, order: 'network' },
  inet_service: { type: 13, length: 2, order: 'network' },
  mark: { type: 19, length: 4, order: 'host' },
  classid: { type: 23, length: 4, order: 'host' },
  ifname: { type: 41, length: 16, order: 'host' },
};

/** NFT_DATA_VERDICT: what a verdict map has for a type. */
export const NFT_DATA_VERDICT = 0xffff_ff00;
/** Types of a concatenation stand in one number, the first in the highest bits (TYPE_BITS). */
const TYPE_BITS = 6;
const TYPE_MASK = (1 << TYPE_BITS) - 1;

const padded = (length: number): number => (length + 3) & ~3;
const isVerdict = (fields: readonly FieldType[]): boolean => fields.length === 1 && fields[0] === 'verdict';

function fieldOf(name: FieldType): Field {
  if (name === 'verdict') throw new RangeError('a verdict cannot be a part of a key or value');
  return FIELDS[name];
}

/** The kernel's number for a key or value of these fields. */
export function typeNumber(fields: readonly FieldType[]): number {
  if (isVerdict(fields)) return NFT_DATA_VERDICT;
  return fields.reduce((type, name) => type * 2 ** TYPE_BITS + fieldOf(name).type, 0);
}

/** The fields of such a number; undefined when there is one among them that Pointsman does not use. */
export function fieldsOfNumber(type: number): readonly FieldType[] | undefined {
  if (type === NFT_DATA_VERDICT) return ['verdict'];
  const names: FieldType[] = [];
  for (let rest = type; rest > 0; rest = rest >>> TYPE_BITS) {
    const found = Object.entries(FIELDS).find(([, field]) => field.type === (rest & TYPE_MASK));
    if (found === undefined) return undefined;
    names.unshift(found[0] as FieldType);
  }
  return names.length === 0 ? undefined : names;
}

/** The bytes of each field; in a concatenation each one takes a multiple of 4. */
export function fieldLengths(fields: readonly FieldType[]): readonly number[] {
  return fields.map((name) => fieldOf(name).length);
}

/** The bytes of a key or value in a register: fields are padded in concatenations only. */
export function lengthOf(fields: readonly FieldType[]): number {
  const lengths = fieldLengths(fields);
  if (lengths.length === 1) return lengths[0] ?? 0;
  return lengths.reduce((sum, length) => sum + padded(length), 0);
}

/** The order of a value of one field; a concatenation counts as network order, since its parts have their own. */
export function byteOrder(fields: readonly FieldType[]): 'network' | 'host' {
  const [only] = fields;
  return fields.length === 1 && only !== undefined && only !== 'verdict' ? FIELDS[only].order : 'network';
}
