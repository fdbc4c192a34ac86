// Label and field selectors.
import type { ApiObject } from '../api-object.ts';

export type Matcher = (object: ApiObject) => boolean;
export type Parsed =
  | { readonly ok: true; readonly matches: Matcher }
  | { readonly ok: false; readonly why: string };

const EVERYTHING: Parsed = { ok: true, matches: () => true };

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

/** Parses `a=b,c!=d,e in (f,g),!h,i`. */
export function labelSelector(text: string | undefined): Parsed {
  if (text === undefined || text.trim() === '') return EVERYTHING;
  const tests: LabelTest[] = [];
  for (const part of splitTop(text)) {
    const test = labelTest(part.trim());
    if (test === undefined) return { ok: false, why: `unable to parse requirement: found '${part.trim()}'` };
    tests.push(test);
  }
  return { ok: true, matches: ({ metadata }) => tests.every((test) => test(metadata.labels ?? {})) };
}

const KEY = '[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?';
const VALUE = '[-A-Za-z0-9_.]*';

function labelTest(part: string): LabelTest | undefined {
  const among = new RegExp(`^(?<key>${KEY})\\s+(?<word>in|notin)\\s*\\((?<values>[^()]*)\\)$`).exec(
    part,
  )?.groups;
  if (among) {
    const { key = '', word, values: list = '' } = among;
    const values = new Set(list.split(',').map((value) => value.trim()));
    const isIn: LabelTest = (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '');
    return word === 'in' ? isIn : (labels) => !isIn(labels);
  }
  const compared = new RegExp(`^(?<key>${KEY})\\s*(?<sign>==?|!=)\\s*(?<value>${VALUE})$`).exec(part)?.groups;
  if (compared) {
    const { key = '', sign, value = '' } = compared;
    const equals: LabelTest = (labels) => Object.hasOwn(labels, key) && labels[key] === value;
    return sign === '!=' ? (labels) => !equals(labels) : equals;
  }
  const exists = new RegExp(`^(?<not>!?)\\s*(?<key>${KEY})$`).exec(part)?.groups;
  if (!exists) return undefined;
  const { key = '', not } = exists;
  return (labels) => Object.hasOwn(labels, key) === (not !== '!');
}

/** Splits at commas outside parentheses. */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** How a resource answers to field selectors: the fields it knows, each as text. */
export type SelectableFields = Readonly<Record<string, (object: ApiObject) => string>>;

/** Parses `metadata.name=a,status.phase!=b`. A field that the resource does not know is refused. */
export function fieldSelector(text: string | undefined, fields: SelectableFields): Parsed {
  if (text === undefined || text.trim() === '') return EVERYTHING;
  const tests: Matcher[] = [];
  for (const part of text.split(/(?<!\\),/)) {
    const found = /^(?<field>[^=!]+?)(?<sign>==?|!=)(?<value>.*)$/.exec(part.trim())?.groups;
    if (!found) return { ok: false, why: `invalid selector: '${text}'; can't understand '${part.trim()}'` };
    const { field = '', sign, value = '' } = found;
    const read = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (read === undefined) return { ok: false, why: `field label not supported: ${field}` };
    const wanted = value.replaceAll(/\\([\\,=])/g, '$1');
    tests.push((object) => (read(object) === wanted) === (sign !== '!='));
  }
  return { ok: true, matches: (object) => tests.every((test) => test(object)) };
}
