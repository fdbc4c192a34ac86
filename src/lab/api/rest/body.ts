// The bodies of requests: JSON or YAML, and which fields stand twice in them.
import { parseDocument } from 'yaml';
import type { JsonValue } from '../json.ts';
import { parseJson } from '../json.ts';
import { duplicateFields } from '../schema/duplicate-fields.ts';
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

export const JSON_TYPE = 'application/json';
const YAML_TYPES = ['application/yaml', 'application/apply-patch+yaml'];

/** Reads a body of one of `types`. `kind` is what it should hold, for the error's sake. */
export async function readBody(
  request: ApiRequest,
  kind: string,
  types: readonly string[] = [JSON_TYPE, 'application/yaml'],
): Promise<Body | Failed> {
  const type = mediaType(request.header('content-type')) ?? JSON_TYPE;
  if (!types.includes(type))
    return request.method === 'PATCH'
      ? unsupportedMediaType()
      : unsupportedMediaType(
          `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
        );
  const bytes = await request.body();
  if (bytes === undefined)
    return failure(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728');
  return parse(bytes.toString('utf8'), YAML_TYPES.includes(type), kind);
}

/** A body that may be left out. */
export async function readOptionalBody(request: ApiRequest, kind: string): Promise<Body | Failed> {
  const bytes = await request.body();
  if (bytes === undefined)
    return failure(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728');
  if (bytes.length === 0) return { ok: true, value: null, duplicates: [] };
  const yaml = YAML_TYPES.includes(mediaType(request.header('content-type')) ?? JSON_TYPE);
  return parse(bytes.toString('utf8'), yaml, kind);
}
