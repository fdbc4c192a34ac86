// Resource versions: opaque to clients once, comparable numbers for the built-in resources (KEP-5504).

/** As kept per object: a small number where it is one, which costs no memory of its own. */
export type ResourceVersion = number | string;

const NUMBER = /^[1-9]\d{0,14}$/;

/** The version as kept. */
export function keptVersion(text: string): ResourceVersion {
  return NUMBER.test(text) ? Number(text) : text;
}

/** Whether a is older than b; false if they cannot be compared. */
export function isOlder(a: ResourceVersion, b: ResourceVersion): boolean {
  return typeof a === 'number' && typeof b === 'number' && a < b;
}
