// Answers of the API: an object, or a Status that says why not, in the real server's words.
import type { ApiObject } from './api-object.ts';
import { causeOf, type FieldError } from './field-error.ts';
import type { JsonObject } from './json.ts';

export interface Status extends JsonObject {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: JsonObject;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: JsonObject;
  readonly code?: number;
}

export interface Failed {
  readonly ok: false;
  readonly status: Status;
}

export interface Done {
  readonly ok: true;
  /** The object as it now is; after a deletion, as it last was. */
  readonly object: ApiObject;
  /** Whether the request made the object. */
  readonly created: boolean;
  /** Whether the object is gone. */
  readonly deleted: boolean;
  /** What the client should be told beside (HTTP `Warning`). */
  readonly warnings: readonly string[];
}

/** What became of a request for one object. */
export type Answer = Done | Failed;

export function done(object: ApiObject, extra: Partial<Omit<Done, 'ok' | 'object'>> = {}): Done {
  return { ok: true, object, created: false, deleted: false, warnings: [], ...extra };
}

/** The names by which errors call a resource. */
export interface ResourceNames {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

interface FailureOptions {
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
}

export function failure(code: number, reason: string, message: string, options: FailureOptions = {}): Failed {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: options.metadata ?? {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(options.details === undefined ? {} : { details: options.details }),
    code,
  };
  return { ok: false, status };
}

const detailsOf = (names: ResourceNames, name: string, kind = names.plural): JsonObject => ({
  name,
  ...(names.group === '' ? {} : { group: names.group }),
  kind,
});
const qualified = (group: string, word: string): string => (group === '' ? word : `${word}.${group}`);

export const notFound = (names: ResourceNames, name: string): Failed =>
  failure(404, 'NotFound', `${qualified(names.group, names.plural)} "${name}" not found`, {
    details: detailsOf(names, name),
  });

export const alreadyExists = (names: ResourceNames, name: string): Failed =>
  failure(409, 'AlreadyExists', `${qualified(names.group, names.plural)} "${name}" already exists`, {
    details: detailsOf(names, name),
  });

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (names: ResourceNames, name: string, why: string = MODIFIED): Failed =>
  failure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(names.group, names.plural)} "${name}": ${why}`,
    { details: detailsOf(names, name) },
  );

export const forbidden = (
  names: ResourceNames,
  name: string,
  why: string,
  details: JsonObject = {},
): Failed =>
  failure(403, 'Forbidden', `${qualified(names.group, names.plural)} "${name}" is forbidden: ${why}`, {
    details: { ...detailsOf(names, name), ...details },
  });

export function invalid(names: ResourceNames, name: string, errors: readonly FieldError[]): Failed {
  const causes = errors.map(causeOf);
  const lines = errors.map((error) => `${error.field}: ${error.message}`);
  const why = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return failure(422, 'Invalid', `${qualified(names.group, names.kind)} "${name}" is invalid: ${why}`, {
    details: { ...detailsOf(names, name, names.kind), causes },
  });
}

export const badRequest = (message: string): Failed => failure(400, 'BadRequest', message);

/** A path that no resource answers to. */
export const noSuchPath = (): Failed =>
  failure(404, 'NotFound', 'the server could not find the requested resource', { details: {} });

export const methodNotAllowed = (): Failed =>
  failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  });

export const unauthorized = (): Failed => failure(401, 'Unauthorized', 'Unauthorized');

export const unsupportedMediaType = (why = '415: Unsupported Media Type'): Failed =>
  failure(415, 'UnsupportedMediaType', why, { details: {} });

export const notAcceptable = (): Failed =>
  failure(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml',
  );

/** The history no longer reaches back to a resourceVersion. */
export const expired = (message: string, metadata: JsonObject = {}): Failed =>
  failure(410, 'Expired', message, { metadata });

export const tooLargeVersion = (asked: number, current: number): Failed =>
  failure(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });

/** The Status that confirms a deletion. */
export function deletedStatus(names: ResourceNames, name: string, uid: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf(names, name), uid },
  };
}
