// What iptables mode believes to be in the kernel, by Service port; changed only after the kernel took it.

import { type FrontendKey, servicePortKey } from '../../model/service-port.ts';
import type { Entry, TableSettings } from '../../plan/forwarding-table.ts';
import { type PortRules, portRules, SHARED, SHARED_CHAINS } from './port-rules.ts';

/** `family/namespace/name/portName/protocol`. */
export type PortKey = string;

export interface PortChange {
  readonly key: PortKey;
  readonly before: PortRules | undefined;
  readonly after: PortRules | undefined;
  /** The port's entries as they will be. */
  readonly entries: ReadonlyMap<FrontendKey, Entry>;
}

export type RuleCounts = Readonly<Record<'filter' | 'nat', number>>;

/** Of one family. */
export interface Books {
  /** What a change means for the ports it touches; nothing is believed of it yet. */
  draft(change: ReadonlyMap<FrontendKey, Entry | undefined>, settings: TableSettings): readonly PortChange[];
  /** The kernel has it. */
  settle(changes: readonly PortChange[]): void;
  entries(): Iterable<readonly [FrontendKey, Entry]>;
  /** Rules of all ports, by table. */
  readonly counts: RuleCounts;
  /** Every port as it is believed to be. */
  readonly ports: ReadonlyMap<PortKey, PortRules>;
  /** Endpoint comments are left out: decided when all is compared, and kept until then. */
  brief: boolean;
}

const NONE: ReadonlyMap<FrontendKey, Entry> = new Map();
/** In the order in which a port's lines are written. */
const KINDS = ['cluster-ip', 'node-port', 'external-ip', 'load-balancer-ip'] as const;

export function createBooks(): Books {
  const entriesOf = new Map<PortKey, ReadonlyMap<FrontendKey, Entry>>();
  const portOf = new Map<FrontendKey, PortKey>();
  const ports = new Map<PortKey, PortRules>();
  const counts = { filter: 0, nat: 0 };
  let brief = false;
  const count = (rules: PortRules | undefined, sign: 1 | -1): void => {
    if (rules === undefined) return;
    for (const own of rules.chains.values()) counts.nat += sign * own.length;
    for (const name of SHARED_CHAINS) counts[SHARED[name][0]] += sign * rules.shared[name].length;
  };
  return {
    get counts() {
      return { ...counts };
    },
    ports,
    *entries() {
      for (const entries of entriesOf.values()) yield* entries;
    },
    get brief() {
      return brief;
    },
    set brief(next) {
      brief = next;
    },
    draft(change, settings) {
      const touched = new Map<PortKey, Map<FrontendKey, Entry>>();
      const open = (key: PortKey): Map<FrontendKey, Entry> => {
        const known = touched.get(key);
        if (known !== undefined) return known;
        const made = new Map(entriesOf.get(key) ?? NONE);
        touched.set(key, made);
        return made;
      };
      for (const [frontend, entry] of change) {
        const before = portOf.get(frontend);
        if (before !== undefined) open(before).delete(frontend);
        if (entry !== undefined) open(servicePortKey(entry.servicePort)).set(frontend, entry);
      }
      return [...touched].map(([key, entries]): PortChange => {
        const after = entries.size === 0 ? undefined : portRules(inOrder(entries), { settings, brief });
        return { key, before: ports.get(key), after, entries };
      });
    },
    settle(changes) {
      for (const { key, entries } of changes)
        for (const frontend of entriesOf.get(key)?.keys() ?? [])
          if (!entries.has(frontend) && portOf.get(frontend) === key) portOf.delete(frontend);
      for (const { key, after, entries } of changes) {
        count(ports.get(key), -1);
        count(after, 1);
        if (after === undefined) {
          entriesOf.delete(key);
          ports.delete(key);
        } else {
          entriesOf.set(key, entries);
          ports.set(key, after);
        }
        for (const frontend of entries.keys()) portOf.set(frontend, key);
      }
    },
  };
}

/** Lines of a port keep their order, whatever order its entries came in. */
export function inOrder(entries: ReadonlyMap<FrontendKey, Entry>): readonly Entry[] {
  return [...entries]
    .sort(([keyA, a], [keyB, b]) => {
      const kind = KINDS.indexOf(a.frontend.kind) - KINDS.indexOf(b.frontend.kind);
      return kind !== 0 ? kind : keyA < keyB ? -1 : 1;
    })
    .map(([, entry]) => entry);
}
