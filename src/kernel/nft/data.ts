// Values and verdicts (enum nft_data_attributes), as they stand in rules and in set elements.
import { PointsmanError } from '../../base/errors.ts';
import { attributeMap, attributesOf, stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import type { Verdict } from './commands.ts';

const NFTA_DATA_VALUE = 1;
const NFTA_DATA_VERDICT = 2;
const NFTA_VERDICT_CODE = 1;
const NFTA_VERDICT_CHAIN = 2;

/** enum nft_verdicts and, where not negative, linux/netfilter.h. */
const VERDICT_CODES: Readonly<Record<Verdict['kind'], number>> = {
  drop: 0,
  accept: 1,
  jump: -3,
  goto: -4,
  return: -5,
};

/** Writes a value or a verdict as the nested attribute `type`. */
export function writeData(writer: NetlinkWriter, type: number, data: Uint8Array | Verdict): void {
  if (data instanceof Uint8Array) {
    writer.nestedBytes(type, NFTA_DATA_VALUE, data);
    return;
  }
  const outer = writer.beginNested(type);
  const verdict = writer.beginNested(NFTA_DATA_VERDICT);
  writer.be32(NFTA_VERDICT_CODE, VERDICT_CODES[data.kind]);
  if ('chain' in data) writer.string(NFTA_VERDICT_CHAIN, data.chain);
  writer.endNested(verdict);
  writer.endNested(outer);
}

/** Reads what `writeData` wrote. A value is copied, so that it does not keep the datagram. Throws E_MALFORMED. */
export function readData(payload: Buffer): Uint8Array | Verdict {
  for (const { type, payload: content } of attributesOf(payload)) {
    if (type === NFTA_DATA_VALUE) return copyOf(content);
    if (type === NFTA_DATA_VERDICT) return readVerdict(content);
  }
  throw new PointsmanError('E_MALFORMED', 'nf_tables data is no value and no verdict');
}

function readVerdict(payload: Buffer): Verdict {
  const attributes = attributeMap(payload);
  const code = attributes.get(NFTA_VERDICT_CODE)?.readInt32BE();
  const chain = attributes.get(NFTA_VERDICT_CHAIN);
  for (const kind of ['accept', 'drop', 'return'] as const) if (VERDICT_CODES[kind] === code) return { kind };
  for (const kind of ['jump', 'goto'] as const) {
    if (VERDICT_CODES[kind] === code && chain !== undefined) return { kind, chain: stringOf(chain) };
  }
  throw new PointsmanError('E_MALFORMED', `nf_tables verdict with code ${code}`);
}

/** A plain Uint8Array of its own: equal values are deep-equal, whatever datagram they came in. */
export function copyOf(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes);
}
