// Rules as iptables-save prints them, so that what is wanted and what is there can be compared as text.
import type { Address, Cidr, Family } from '../../model/address.ts';
import { cidrText, widthOf } from '../../model/address.ts';
import type { Protocol } from '../../model/service.ts';
import type { LocalDetector } from '../../plan/forwarding-table.ts';

/** Everything behind `-A CHAIN `. */
export type Rule = string;

/** A rule's parts in the order in which they are printed. */
export interface RuleParts {
  readonly source?: Cidr | { readonly not: Cidr };
  readonly destination?: Cidr | { readonly not: Cidr };
  readonly input?: string | { readonly not: string };
  readonly protocol?: Protocol;
  /** Matches, each with its `-m`, as they are printed; the comment stands first. */
  readonly comment?: string;
  readonly matches?: readonly string[];
  /** `--dport`; its match of the protocol stands behind the others. */
  readonly port?: number;
  /** The match of the protocol without a port, as before a DNAT. */
  readonly protocolMatch?: boolean;
  /** `-j …`; a rule without one only counts. */
  readonly jump?: string;
}

export function rule(parts: RuleParts): Rule {
  const words: string[] = [];
  const negatable = <T extends string | Cidr>(
    option: string,
    value: T | { readonly not: T } | undefined,
    text: (value: T) => string,
  ): void => {
    if (value === undefined) return;
    if (typeof value === 'object' && 'not' in value) words.push('!', option, text(value.not));
    else words.push(option, text(value as T));
  };
  negatable('-s', parts.source, cidrText);
  negatable('-d', parts.destination, cidrText);
  negatable('-i', parts.input, (name) => name);
  const protocol = parts.protocol?.toLowerCase();
  if (protocol !== undefined) words.push('-p', protocol);
  if (parts.comment !== undefined) words.push('-m', 'comment', '--comment', JSON.stringify(parts.comment));
  words.push(...(parts.matches ?? []));
  if (protocol !== undefined && (parts.port !== undefined || parts.protocolMatch === true))
    words.push('-m', protocol);
  if (parts.port !== undefined) words.push('--dport', String(parts.port));
  if (parts.jump !== undefined) words.push('-j', parts.jump);
  return words.join(' ');
}

/** One address as a CIDR. */
export function host(family: Family, address: Address): Cidr {
  return { family, address, prefix: widthOf(family) };
}

/** What tells local pods; undefined without a detector. Interfaces by prefix are written with a plus. */
export function fromPods(detector: LocalDetector): RuleParts | undefined {
  switch (detector.kind) {
    case 'none':
      return undefined;
    case 'cidr':
      return { source: detector.cidr };
    case 'interface':
      return { input: detector.name };
    case 'interface-prefix':
      return { input: `${detector.prefix}+` };
  }
}

/** What tells everyone but local pods; undefined without a detector. */
export function notFromPods(detector: LocalDetector): RuleParts | undefined {
  const pods = fromPods(detector);
  if (pods === undefined) return undefined;
  if (pods.input !== undefined) return { input: { not: String(pods.input) } };
  return { source: { not: pods.source as Cidr } };
}

/** As the kernel keeps a probability, in 31 bits, and iptables-save prints it. */
export function probability(of: number): string {
  const kept = Math.round(0x8000_0000 / of);
  return (kept / 0x8000_0000).toFixed(11);
}

/** `icmp-port-unreachable`, `icmp6-port-unreachable`. */
export function reject(family: Family): string {
  return `REJECT --reject-with ${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable`;
}
