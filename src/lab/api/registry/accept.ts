// From a request's body to a decoded object with defaults, as the server's deserializer does it.
import type { ApiObject } from '../api-object.ts';
import { isObject, type JsonObject, type JsonValue, withFields } from '../json.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import { decodeObject } from '../schema/decode.ts';
import { badRequest, type Failed } from '../status.ts';

/** What becomes of unknown and repeated fields: refused, warned of, or dropped in silence. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface AcceptOptions {
  readonly validation: FieldValidation;
  /** Paths of fields that stood twice in the text. */
  readonly duplicates: readonly string[];
}

export type Accepted =
  | {
      readonly ok: true;
      readonly object: ApiObject;
      readonly warnings: readonly string[];
      /** What Strict validation refuses. */
      readonly strictErrors: readonly string[];
    }
  | Failed;

function kindErrors(resource: Resource, body: JsonObject): Failed | undefined {
  const { kind = resource.kind, apiVersion = apiVersionOf(resource) } = body;
  const expected = apiVersionOf(resource);
  if (typeof kind !== 'string' || typeof apiVersion !== 'string')
    return badRequest('kind and apiVersion must be strings');
  if (kind !== resource.kind)
    return badRequest(
      `${kind} in version ${JSON.stringify(apiVersion.split('/').at(-1))} cannot be handled as a ${resource.kind}: it is another kind`,
    );
  if (apiVersion !== expected)
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  return undefined;
}

export function cannotBeHandled(resource: Resource, why: string): string {
  return `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: ${why}`;
}

/** Decodes without deciding about unknown fields: `strictErrors` says what Strict would refuse. */
export function decodeBody(resource: Resource, body: JsonValue, duplicates: readonly string[]): Accepted {
  if (!isObject(body))
    return badRequest(cannotBeHandled(resource, 'json: cannot unmarshal a value that is no object'));
  const wrongKind = kindErrors(resource, body);
  if (wrongKind) return wrongKind;
  const decoded = decodeObject(resource.schema, body);
  if (!decoded.ok) return badRequest(cannotBeHandled(resource, decoded.message));
  const { metadata, ...rest } = decoded.value;
  const object = resource.defaults({
    // Every answer begins with these three.
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: isObject(metadata) ? metadata : {},
    ...withFields(rest, { kind: undefined, apiVersion: undefined }),
  });
  const strictErrors = [
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...decoded.unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  return { ok: true, object, warnings: [], strictErrors };
}

/** Decodes a body that is a whole object. */
export function acceptBody(resource: Resource, body: JsonValue, options: AcceptOptions): Accepted {
  const decoded = decodeBody(resource, body, options.duplicates);
  if (!decoded.ok || decoded.strictErrors.length === 0) return decoded;
  if (options.validation === 'Strict')
    return badRequest(cannotBeHandled(resource, `strict decoding error: ${decoded.strictErrors.join(', ')}`));
  return { ...decoded, warnings: options.validation === 'Warn' ? decoded.strictErrors : [] };
}
