// The bodies of requests: JSON or YAML, and which fields stand twice in them.
import { parseDocument } from 'yaml';
import type { JsonValue } from '../json.ts';
import { parseJson } from '../json.ts';
import { decodeProtobuf, PROTOBUF_TYPE } from '../protobuf/decode.ts';
import { duplicateFields } from '../schema/duplicate-fields.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { badRequest, type Failed, failure, unsupportedMediaType } from '../status.ts';
import { mediaType } from './media.ts';
import type { ApiRequest } from './request.ts';

export interface Body {
  readonly ok: true;
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

const SHOWN_BYTES = 30;

/** Why a text is no JSON, in Go's words as far as they can be told. */
function jsonComplaint(text: string): string {
  try {
    JSON.parse(text);
    return 'unknown';
  } catch (error) {
    const words = error instanceof Error ? error.message : '';
    const found = /Unexpected token '?(.)/su.exec(words)?.[1];
    return found === undefined
      ? 'unexpected end of JSON input'
      : `invalid character '${found}' looking for beginning of value`;
  }
}

function parse(text: string, yaml: boolean, kind: string): Body | Failed {
  if (!yaml) {
    const value = parseJson(text);
    if (value !== undefined) return { ok: true, value, duplicates: duplicateFields(text) };
    const shown = text.length > SHOWN_BYTES ? `${text.slice(0, SHOWN_BYTES)} ...` : text;
    return badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${jsonComplaint(text)} (${shown})`,
    );
  }
  const document = parseDocument(text, { uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) return badRequest(`error decoding YAML: ${error.message.split('\n')[0]}`);
  return { ok: true, value: (document.toJS() ?? null) as JsonValue, duplicates: [] };
}

/** What a body should hold; the schema reads it from protobuf. */
export interface Expected {
  readonly kind: string;
  readonly schema: ObjectSchema;
}

export const JSON_TYPE = 'application/json';
const OBJECT_TYPES = [JSON_TYPE, 'application/yaml', PROTOBUF_TYPE];
const YAML_TYPES = ['application/yaml', 'application/apply-patch+yaml'];

const tooLarge = (): Failed =>
  failure(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728');

/** Reads a body of one of `types`; those of whole objects unless said otherwise. */
export async function readBody(
  request: ApiRequest,
  expected: Expected,
  types: readonly string[] = OBJECT_TYPES,
): Promise<Body | Failed> {
  const type = mediaType(request.header('content-type')) ?? JSON_TYPE;
  if (!types.includes(type))
    return request.method === 'PATCH'
      ? unsupportedMediaType()
      : unsupportedMediaType(
          `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
        );
  const bytes = await request.body();
  return bytes === undefined ? tooLarge() : read(bytes, type, expected);
}

/** A body that may be left out. */
export async function readOptionalBody(request: ApiRequest, expected: Expected): Promise<Body | Failed> {
  const bytes = await request.body();
  if (bytes === undefined) return tooLarge();
  if (bytes.length === 0) return { ok: true, value: null, duplicates: [] };
  return read(bytes, mediaType(request.header('content-type')) ?? JSON_TYPE, expected);
}

function read(bytes: Buffer, type: string, { kind, schema }: Expected): Body | Failed {
  if (type !== PROTOBUF_TYPE) return parse(bytes.toString('utf8'), YAML_TYPES.includes(type), kind);
  const decoded = decodeProtobuf(schema, bytes);
  return decoded.ok ? { ...decoded, duplicates: [] } : badRequest(decoded.why);
}
