// What a lab's namespaces are called, and which of the machine's namespaces belong to a lab.
import { createHash } from 'node:crypto';
import { PointsmanError } from '../../base/errors.ts';

/** The namespace that joins the nodes and routes between them and the world. */
export const SWITCH = 'switch';
/** The client beyond the cluster. */
export const OUTSIDE_CLIENT = 'outside';

/** A file name's limit, and what `ip netns` can name. */
const LONGEST = 255;
const PREFIX = /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/;
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** Throws E_LAB for a prefix that is not 1 to 40 lower-case letters, digits and inner dashes. */
export function checkPrefix(prefix: string): void {
  if (PREFIX.test(prefix)) return;
  throw new PointsmanError('E_LAB', `${JSON.stringify(prefix)} cannot be the prefix of a lab`, {
    hint: 'take up to 40 lower-case letters, digits and dashes',
  });
}

/** Throws E_LAB for a node name that is no DNS name or would be taken for another part of a lab. */
export function checkNodeName(name: string): void {
  const reserved = name === OUTSIDE_CLIENT || name === SWITCH || name.endsWith(`-${SWITCH}`);
  if (DNS_NAME.test(name) && name.length <= 150 && !reserved) return;
  throw new PointsmanError('E_LAB', `a node of a lab cannot be called ${JSON.stringify(name)}`, {
    hint: 'take a short DNS name such as node-a',
  });
}

/** Throws E_LAB unless the key is `namespace/name`. */
export function checkPodKey(key: string): void {
  const parts = key.split('/');
  if (parts.length === 2 && parts.every((part) => DNS_NAME.test(part))) return;
  throw new PointsmanError('E_LAB', `${JSON.stringify(key)} is no Pod's namespace/name`);
}

/** The node's name when none is given: node-a to node-z, then node-27 and so on. */
export function defaultNodeName(number: number): string {
  return `node-${number <= 26 ? String.fromCharCode(96 + number) : number}`;
}

/**
 * The network namespace of a part of a lab: `switch`, `outside`, a node's name, or a Pod's `namespace/name`, whose
 * slash becomes an underscore, which no DNS name has. What would be too long for a file is cut and gets a hash.
 */
export function namespaceName(prefix: string, part: string): string {
  const name = `${prefix}-${part.replace('/', '_')}`;
  if (name.length <= LONGEST) return name;
  return `${name.slice(0, LONGEST - 13)}_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}

/**
 * Those of `names` (of all namespaces on the machine) that belong to the lab with this prefix, its switch last. A lab
 * has a switch from its first moment to its last, so `lab-2-node-a` is of the lab `lab-2` when there is a
 * `lab-2-switch`, and of the lab `lab` when there is only a `lab-switch`.
 */
export function namespacesOf(prefix: string, names: readonly string[]): readonly string[] {
  const suffix = `-${SWITCH}`;
  const prefixes = names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort((one, other) => other.length - one.length);
  const ownSwitch = namespaceName(prefix, SWITCH);
  const mine = names.filter(
    (name) => prefixes.find((candidate) => name.startsWith(`${candidate}-`)) === prefix,
  );
  return [...mine.filter((name) => name !== ownSwitch), ...mine.filter((name) => name === ownSwitch)];
}
