// iptables mode: chains as upstream names and fills them, through iptables-restore with the smallest input.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { FAMILIES, type Family } from '../../model/address.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry, ForwardingTable, TableChange } from '../../plan/forwarding-table.ts';
import type { Backend, CommitReport } from '../backend.ts';
import { type Books, createBooks, type PortChange, type PortKey, type RuleCounts } from './books.ts';
import { restoreLines } from './edits.ts';
import { watchForLoss } from './loss.ts';
import type { PortRules } from './port-rules.ts';
import { failedLine, LOCK_WAIT, type Programs, programError, type Ran, type Variant } from './programs.ts';
import { parseSaved, type Saved } from './saved.ts';
import { nodePortDispatch, type StaticOptions, staticChains } from './static-rules.ts';
import { changeSections, reconcileSections, removalSections } from './wanted.ts';

export interface IptablesOptions {
  readonly programs: Programs;
  readonly variant: Variant;
  readonly families: readonly Family[];
  readonly masqueradeBit: number;
  readonly localhostNodePorts: boolean;
  readonly dropInvalid: boolean;
  readonly randomFully: boolean;
  /** How often the tables are looked at for the loss of our rules, in ms. */
  readonly watchEveryMs: number;
  readonly log: Logger;
}

/** With more endpoints than this the comments of single ones are left out (behaviour spec 4.1). */
const LARGE_CLUSTER = 1000;

interface Outcome {
  readonly refused: Map<FrontendKey, PointsmanError>;
  readonly failed?: PointsmanError;
  readonly messages: number;
  readonly kernelMs: number;
}

/** What iptables mode tells beside what all modes do. */
export interface IptablesBackend extends Backend {
  /** Rules of ours, and those that the last restore sent, by family and table. */
  ruleCounts(): readonly IptablesRuleCount[];
  /** Restores of a change that failed, whatever became of the change then. */
  readonly partialFailures: number;
}

export interface IptablesRuleCount {
  readonly family: Family;
  readonly table: 'filter' | 'nat';
  readonly total: number;
  readonly last: number;
}

export function createIptablesBackend(options: IptablesOptions): IptablesBackend {
  const { programs, variant, families, log } = options;
  const books = new Map<Family, Books>(families.map((family) => [family, createBooks()]));
  let settings: ForwardingTable['settings'] | undefined;
  let watching: AsyncDisposable | undefined;
  let partialFailures = 0;
  const lastSent = new Map<Family, RuleCounts>();
  const listeners: ((because: string) => void)[] = [];
  const tell = (because: string): void => {
    for (const listener of listeners) listener(because);
  };
  const booksOf = (family: Family): Books => {
    const found = books.get(family);
    if (found === undefined) throw new Error(`${family} is not served`);
    return found;
  };
  const staticOptions = (family: Family, of: ForwardingTable['settings']): StaticOptions => ({
    ...options,
    family,
    settings: of[family],
  });

  async function save(family: Family): Promise<Saved> {
    const ran = await programs.run(family, variant, 'save', []);
    if (ran.code !== 0) throw programError(`cannot read the ${family} rules of iptables-${variant}`, ran);
    return parseSaved(ran.out);
  }

  /** The lines as one transaction a table. */
  async function restore(family: Family, lines: readonly string[]): Promise<Ran> {
    log.debug(2, 'Running iptables-restore', { family, variant, lines: lines.length });
    lastSent.set(family, sentIn(lines));
    return programs.run(family, variant, 'restore', [...LOCK_WAIT, '--noflush'], `${lines.join('\n')}\n`);
  }

  /**
   * Brings a family to `ports`, whatever is there. A port that the kernel refuses is left out of the next try; which it
   * is the restore's message tells, or it is found by halving.
   */
  async function reconcileFamily(
    family: Family,
    wanted: ReadonlyMap<PortKey, PortRules>,
    of: ForwardingTable['settings'],
  ): Promise<{ refused: Map<PortKey, PointsmanError>; messages: number; kernelMs: number }> {
    const refused = new Map<PortKey, PointsmanError>();
    const begun = performance.now();
    let messages = 0;
    /** Applies some of the ports on top of what is there; the others stay as they are or go. */
    const apply = async (ports: ReadonlyMap<PortKey, PortRules>): Promise<Ran | undefined> => {
      const lines = restoreLines(
        reconcileSections(await save(family), ports.values(), staticOptions(family, of)),
      );
      if (lines.length === 0) return undefined;
      const ran = await restore(family, lines);
      if (ran.code === 0) {
        messages += lines.length;
        return undefined;
      }
      const line = failedLine(ran);
      const culprit = line === undefined ? undefined : portOfLine(lines[line - 1] ?? '', ports);
      if (culprit === undefined) return ran;
      refused.set(
        culprit,
        programError(`iptables-restore refuses ${JSON.stringify(lines[(line ?? 1) - 1])}`, ran),
      );
      return apply(without(ports, refused));
    };
    let failure = await apply(wanted);
    if (failure !== undefined) {
      // Nothing names a line: halves of the ports are tried until single ones are left.
      const good = new Map<PortKey, PortRules>();
      const first = failure;
      const tryPorts = async (keys: readonly PortKey[]): Promise<void> => {
        const more = new Map(good);
        for (const key of keys) {
          const rules = wanted.get(key);
          if (rules !== undefined && !refused.has(key)) more.set(key, rules);
        }
        const ran = await apply(more);
        if (ran === undefined) {
          for (const [key, rules] of more) if (!refused.has(key)) good.set(key, rules);
          return;
        }
        const [only] = keys;
        if (keys.length === 1 && only !== undefined) {
          refused.set(only, programError('iptables-restore refuses the rules of a Service port', ran));
          return;
        }
        const half = keys.length >> 1;
        await tryPorts(keys.slice(0, half));
        await tryPorts(keys.slice(half));
      };
      failure = await apply(good);
      if (failure !== undefined) throw programError('iptables-restore fails', first);
      await tryPorts([...wanted.keys()]);
    }
    return { refused, messages, kernelMs: performance.now() - begun };
  }

  async function reconcile(table: ForwardingTable): Promise<CommitReport> {
    const refused = new Map<FrontendKey, PointsmanError>();
    let messages = 0;
    let kernelMs = 0;
    for (const family of families) {
      const fresh = createBooks();
      const entries = new Map<FrontendKey, Entry>();
      for (const [key, entry] of table.entries) if (entry.frontend.family === family) entries.set(key, entry);
      fresh.brief = endpointCount(entries.values()) > LARGE_CLUSTER;
      const changes = fresh.draft(entries, table.settings[family]);
      const wanted = new Map(
        changes.flatMap(({ key, after }) => (after === undefined ? [] : [[key, after] as const])),
      );
      const done = await reconcileFamily(family, wanted, table.settings);
      messages += done.messages;
      kernelMs += done.kernelMs;
      fresh.settle(changes.filter(({ key }) => !done.refused.has(key)));
      noteRefused(changes, done.refused, refused);
      books.set(family, fresh);
    }
    ({ settings } = table);
    watching ??= watchForLoss({ ...options, tell });
    return { refused, messages, kernelMs };
  }

  /** One family's part of a change. */
  async function commitFamily(
    family: Family,
    change: ReadonlyMap<FrontendKey, Entry | undefined>,
    of: ForwardingTable['settings'],
  ): Promise<Outcome> {
    const own = booksOf(family);
    const refused = new Map<FrontendKey, PointsmanError>();
    const changes = own.draft(change, of[family]);
    const lines = restoreLines(changeSections(changes));
    if (lines.length === 0) {
      own.settle(changes);
      return { refused, messages: 0, kernelMs: 0 };
    }
    const begun = performance.now();
    const ran = await restore(family, lines);
    if (ran.code === 0) {
      own.settle(changes);
      return { refused, messages: lines.length, kernelMs: performance.now() - begun };
    }
    // A part may be in: from what is there, all is brought to what it should be, and the culprit found.
    partialFailures += 1;
    log.warn('Failed to execute iptables-restore', { family, exitCode: ran.code, err: ran.err.trim() });
    const wanted = new Map(own.ports);
    for (const { key, after } of changes) {
      if (after === undefined) wanted.delete(key);
      else wanted.set(key, after);
    }
    try {
      const done = await reconcileFamily(family, wanted, of);
      own.settle(changes.filter(({ key }) => !done.refused.has(key)));
      noteRefused(changes, done.refused, refused);
      return { refused, messages: lines.length + done.messages, kernelMs: performance.now() - begun };
    } catch (error) {
      if (!(error instanceof PointsmanError)) throw error;
      return { refused, failed: error, messages: lines.length, kernelMs: performance.now() - begun };
    }
  }

  return {
    mode: 'iptables',
    families,
    async probe() {
      for (const family of families) {
        const ran = await programs.run(family, variant, 'save', ['-t', 'nat']);
        if (ran.code !== 0)
          throw new PointsmanError(
            'E_KERNEL_FEATURE',
            `iptables is not available on this host: ${ran.err.trim() || `exit code ${ran.code}`}`,
            {
              hint:
                ran.code === 127
                  ? 'install the package iptables'
                  : 'run as root, with the nat table in the kernel',
              facts: { family, variant },
            },
          );
      }
    },
    reconcile,
    async commit(change: TableChange) {
      const before = settings;
      if (before === undefined) throw new Error('a change before the first reconcile');
      const of = change.settings ?? before;
      const byFamily = new Map<Family, Map<FrontendKey, Entry | undefined>>();
      for (const [key, entry] of change.entries) {
        const family = entry?.frontend.family ?? familyOfKey(key);
        if (!families.includes(family)) continue;
        const own = byFamily.get(family) ?? new Map<FrontendKey, Entry | undefined>();
        own.set(key, entry);
        byFamily.set(family, own);
      }
      if (change.settings !== undefined) return commitAll(byFamily, of);
      const outcomes: Outcome[] = [];
      for (const [family, entries] of byFamily) outcomes.push(await commitFamily(family, entries, of));
      return merged(outcomes);
    },
    async cleanup() {
      const removed: string[] = [];
      for (const family of families) {
        const lines = restoreLines(removalSections(await save(family), family));
        if (lines.length === 0) continue;
        const ran = await restore(family, lines);
        if (ran.code !== 0) throw programError(`cannot remove the ${family} rules of iptables mode`, ran);
        const chains = lines.filter((line) => line.startsWith('-X')).length;
        removed.push(`${chains} chains of the iptables mode (iptables-${variant}, ${family})`);
      }
      return removed;
    },
    ruleCounts() {
      return families.flatMap((family) => {
        const held = booksOf(family).counts;
        const fixed = settings === undefined ? undefined : fixedRules(staticOptions(family, settings));
        return (['filter', 'nat'] as const).map((table) => ({
          family,
          table,
          total: held[table] + (fixed?.[table] ?? 0),
          last: lastSent.get(family)?.[table] ?? 0,
        }));
      });
    },
    get partialFailures() {
      return partialFailures;
    },
    onForeignChange(callback) {
      listeners.push(callback);
    },
    async [Symbol.asyncDispose]() {
      listeners.length = 0;
      await watching?.[Symbol.asyncDispose]();
    },
  };

  /** What holds for all changed: every port is written anew where it differs. */
  async function commitAll(
    byFamily: ReadonlyMap<Family, ReadonlyMap<FrontendKey, Entry | undefined>>,
    of: ForwardingTable['settings'],
  ): Promise<CommitReport> {
    const entries = new Map<FrontendKey, Entry>();
    for (const family of families) {
      const own = booksOf(family);
      for (const [key, entry] of own.entries()) entries.set(key, entry);
      for (const [key, entry] of byFamily.get(family) ?? []) {
        if (entry === undefined) entries.delete(key);
        else entries.set(key, entry);
      }
    }
    return reconcile({ settings: of, entries });
  }
}

/** Rules that are there whatever Services there are. */
function fixedRules(options: StaticOptions): RuleCounts {
  const count = { filter: 0, nat: nodePortDispatch(options).length };
  for (const [table, chains] of staticChains(options))
    for (const rules of chains.values()) if (table !== 'mangle') count[table] += rules.length;
  return count;
}

/** Rules in the input of a restore. */
function sentIn(lines: readonly string[]): RuleCounts {
  const count = { filter: 0, nat: 0 };
  let table = '';
  for (const line of lines) {
    if (line.startsWith('*')) table = line.slice(1);
    else if (/^-[AI]/.test(line) && (table === 'filter' || table === 'nat')) count[table] += 1;
  }
  return count;
}

function noteRefused(
  changes: readonly PortChange[],
  ports: ReadonlyMap<PortKey, PointsmanError>,
  refused: Map<FrontendKey, PointsmanError>,
): void {
  for (const { key, entries } of changes) {
    const error = ports.get(key);
    if (error !== undefined) for (const frontend of entries.keys()) refused.set(frontend, error);
  }
}

function merged(outcomes: readonly Outcome[]): CommitReport {
  const failed = outcomes.find((outcome) => outcome.failed !== undefined)?.failed;
  return {
    refused: new Map(outcomes.flatMap(({ refused }) => [...refused])),
    messages: outcomes.reduce((sum, { messages }) => sum + messages, 0),
    kernelMs: outcomes.reduce((sum, { kernelMs }) => sum + kernelMs, 0),
    ...(failed === undefined ? {} : { failed }),
  };
}

function without(
  ports: ReadonlyMap<PortKey, PortRules>,
  refused: ReadonlyMap<PortKey, unknown>,
): ReadonlyMap<PortKey, PortRules> {
  return new Map([...ports].filter(([key]) => !refused.has(key)));
}

/** Whose line it is. */
function portOfLine(line: string, ports: ReadonlyMap<PortKey, PortRules>): PortKey | undefined {
  const match = /^-[AID] (\S+) (?:1 )?(.*)$/.exec(line);
  if (match === null) return undefined;
  const [, chain = '', rule = ''] = match;
  for (const [key, { chains, shared }] of ports) {
    if (chains.has(chain)) return key;
    if (Object.values(shared).some((rules) => rules.includes(rule))) return key;
  }
  return undefined;
}

function endpointCount(entries: Iterable<Entry>): number {
  let count = 0;
  for (const { frontend, route } of entries)
    if (frontend.kind === 'cluster-ip' && route.kind === 'balance') count += route.endpoints.length;
  return count;
}

function familyOfKey(key: FrontendKey): Family {
  const [first = '', second] = key.split('/', 2);
  if (first === 'nodeport') return FAMILIES.find((family) => family === second) ?? 'IPv4';
  return first.includes(':') ? 'IPv6' : 'IPv4';
}
