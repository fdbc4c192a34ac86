// JSON Patch (RFC 6902).
import { isList, isObject, type JsonObject, type JsonValue, sameJson } from '../json.ts';

export type Patched =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly kind: 'malformed' | 'failed'; readonly why: string };

class PatchFailure extends Error {}

/** Applies a list of operations in order; the first that fails ends it. */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): Patched {
  if (!isList(patch))
    return { ok: false, kind: 'malformed', why: 'a JSON patch must be a list of operations' };
  try {
    let value: JsonValue = document;
    for (const operation of patch) {
      if (!isObject(operation) || typeof operation.op !== 'string' || typeof operation.path !== 'string')
        return { ok: false, kind: 'malformed', why: 'an operation of a JSON patch needs op and path' };
      value = applyOne(value, operation.op, operation.path, operation);
    }
    return { ok: true, value };
  } catch (error) {
    if (error instanceof PatchFailure) return { ok: false, kind: 'failed', why: error.message };
    throw error;
  }
}

function pointer(path: string): readonly string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw new PatchFailure(`path ${path} must be empty or start with /`);
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function applyOne(document: JsonValue, op: string, path: string, operation: JsonObject): JsonValue {
  const at = pointer(path);
  const operand = (): JsonValue => {
    if (operation.value === undefined) throw new PatchFailure(`${op} operation needs a value: ${path}`);
    return operation.value;
  };
  const from = (): readonly string[] => {
    if (typeof operation.from !== 'string') throw new PatchFailure(`${op} operation needs from: ${path}`);
    return pointer(operation.from);
  };
  switch (op) {
    case 'add':
      return change(document, at, path, { kind: 'add', value: operand() });
    case 'replace':
      return change(document, at, path, { kind: 'replace', value: operand() });
    case 'remove':
      return change(document, at, path, { kind: 'remove' });
    case 'test':
      if (!sameJson(read(document, at) ?? null, operand()))
        throw new PatchFailure(`testing value ${path} failed: test failed`);
      return document;
    case 'copy':
      return change(document, at, path, { kind: 'add', value: present(document, from()) });
    case 'move': {
      const source = from();
      const value = present(document, source);
      return change(change(document, source, path, { kind: 'remove' }), at, path, { kind: 'add', value });
    }
    default:
      throw new PatchFailure(`Unexpected kind: ${op}`);
  }
}

function read(document: JsonValue, at: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const part of at)
    value = isList(value) ? value[indexIn(value, part, 0)] : isObject(value) ? value[part] : undefined;
  return value;
}

function present(document: JsonValue, at: readonly string[]): JsonValue {
  const value = read(document, at);
  if (value === undefined) throw new PatchFailure(`missing value: /${at.join('/')}`);
  return value;
}

/** A place in a list; `spare` is 1 where the place behind the last is allowed. */
function indexIn(list: readonly JsonValue[], part: string, spare: 0 | 1): number {
  if (part === '-' && spare === 1) return list.length;
  const index = /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1;
  if (index < 0 || index >= list.length + spare)
    throw new PatchFailure(`Unable to access invalid index: ${part}`);
  return index;
}

type Change = { readonly kind: 'add' | 'replace'; readonly value: JsonValue } | { readonly kind: 'remove' };

function change(document: JsonValue, at: readonly string[], path: string, how: Change): JsonValue {
  const [part, ...rest] = at;
  if (part === undefined) return how.kind === 'remove' ? null : how.value;
  if (isList(document)) {
    const index = indexIn(document, part, rest.length === 0 && how.kind === 'add' ? 1 : 0);
    const item = document[index];
    if (rest.length > 0) return document.with(index, change(item ?? null, rest, path, how));
    if (how.kind === 'add') return document.toSpliced(index, 0, how.value);
    return how.kind === 'remove' ? document.toSpliced(index, 1) : document.with(index, how.value);
  }
  const known = isObject(document) && Object.hasOwn(document, part) ? document[part] : undefined;
  if (!isObject(document) || (known === undefined && (rest.length > 0 || how.kind !== 'add'))) {
    const verb = how.kind === 'remove' ? 'remove' : how.kind;
    throw new PatchFailure(
      `${verb} operation does not apply: doc is missing ${rest.length > 0 ? 'path' : 'key'}: ${path}: missing value`,
    );
  }
  if (rest.length > 0) return { ...document, [part]: change(known ?? null, rest, path, how) };
  if (how.kind !== 'remove') return { ...document, [part]: how.value };
  const { [part]: _gone, ...left } = document;
  return left;
}
