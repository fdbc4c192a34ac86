// Errors about one field of an object, worded as the real server words them.
import type { JsonObject, JsonValue } from './json.ts';

export interface FieldError {
  readonly reason: string;
  /** Such as `spec.ports[0].port`. */
  readonly field: string;
  readonly message: string;
}

const because = (detail: string | undefined): string =>
  detail === undefined || detail === '' ? '' : `: ${detail}`;

export const required = (field: string, detail?: string): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: `Required value${because(detail)}`,
});

export const invalidValue = (field: string, value: JsonValue | undefined, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value ?? null)}: ${detail}`,
});

export const notSupported = (field: string, value: JsonValue, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((word) => JSON.stringify(word)).join(', ')}`,
});

export const duplicate = (field: string, value: JsonValue): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${JSON.stringify(value)}`,
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
});

export const tooLong = (field: string, bytes: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${bytes} bytes`,
});

export const tooMany = (field: string, actual: number, most: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${most} items`,
});

export function causeOf(error: FieldError): JsonObject {
  return { reason: error.reason, message: error.message, field: error.field };
}
