// What one entry is in the kernel: a plan, lists in slots, memberships. Turned into rows, the text form of elements.
import { cidrText } from '../../model/address.ts';
import type { Endpoint, Frontend } from '../../model/service-port.ts';
import type { Entry, Masquerade } from '../../plan/forwarding-table.ts';
import { type AffinityBatch, type ListName, listName, type SeenList } from './affinity-book.ts';
import {
  BY_SOURCE_WORD,
  DROP_WORD,
  type ListPlan,
  type PlanWord,
  type PlanWords,
  REFUSE_WORD,
} from './plans.ts';
import { LARGEST_RUNG, rungFor } from './rungs.ts';
import { arrangeDense, type Slots } from './slots.ts';

/** The endpoints that one plan draws from. */
export interface SlotList {
  readonly plan: ListPlan;
  readonly slots: Slots;
  /** For lists with affinity. */
  readonly sticky?: { readonly name: ListName; readonly id: number };
}

/** How one frontend stands in the kernel. */
export interface Programmed {
  readonly frontend: Frontend;
  /** `list`: everyone draws from `any`. `by-source`: some from `any`, others from `local`, if there is one. */
  readonly plan: 'list' | 'by-source' | 'refuse' | 'drop';
  readonly any: SlotList | undefined;
  readonly local: SlotList | undefined;
  readonly masquerade: Masquerade;
  /** CIDRs as text; undefined: everyone may come in. */
  readonly allowedSources: readonly string[] | undefined;
}

/** What is known of a frontend's lists before: from the books, or as seen in the kernel. */
export interface PreviousLists {
  readonly any: Slots;
  readonly local: Slots;
  /** Of sticky lists as seen. */
  readonly seen?: { readonly any: SeenList; readonly local: SeenList };
}

/** The kernel's form of an entry, its slots as near to the previous ones as can be. */
export function programmedOf(entry: Entry, previous: PreviousLists, affinity: AffinityBatch): Programmed {
  const { route, affinitySeconds, servicePort } = entry;
  const common = {
    frontend: entry.frontend,
    masquerade: entry.masquerade,
    allowedSources: entry.allowedSources?.map(cidrText),
  };
  const listOf = (
    endpoints: readonly Endpoint[],
    which: 'any' | 'local',
    from: 'cluster' | 'node',
  ): SlotList => {
    const local = which === 'local';
    if (affinitySeconds === 0) {
      const slots = arrangeDense(previous[which], endpoints);
      return { plan: { local, affinitySeconds, rung: rungFor(slots.length) }, slots };
    }
    const name = listName(servicePort, from);
    const { id, slots } = affinity.listOf(name, endpoints, previous.seen?.[which]);
    return { plan: { local, affinitySeconds, rung: rungFor(slots.length) }, slots, sticky: { name, id } };
  };
  switch (route.kind) {
    case 'balance':
      return { ...common, plan: 'list', any: listOf(route.endpoints, 'any', route.from), local: undefined };
    case 'by-source':
      return {
        ...common,
        plan: 'by-source',
        any: listOf(route.all, 'any', 'cluster'),
        local: route.local.length === 0 ? undefined : listOf(route.local, 'local', 'node'),
      };
    case 'reject':
      return { ...common, plan: 'refuse', any: undefined, local: undefined };
    case 'drop':
      return { ...common, plan: 'drop', any: undefined, local: undefined };
  }
}

/** The sticky lists that a frontend draws from. */
export function stickyListsOf(programmed: Programmed): readonly ListName[] {
  return [programmed.any, programmed.local].flatMap((list) => (list?.sticky ? [list.sticky.name] : []));
}

/** The sets and maps that rows go to, without the `node-port-` twins. */
export type RowSet = string;

/** Rows by `set key`, with their data, empty for plain sets: `endpoints 10.96.0.1 . tcp . 80 . 2` → `10.0.0.1 . 8080`. */
export type Rows = ReadonlyMap<string, string>;

export const rowId = (set: RowSet, key: string): string => `${set} ${key}`;
export const setOfRow = (id: string): RowSet => id.slice(0, id.indexOf(' '));
export const keyOfRow = (id: string): string => id.slice(id.indexOf(' ') + 1);

/** The frontend as the first parts of a key: `10.96.0.1 . tcp . 80`, or `tcp . 30080` for a node port. */
export function frontendParts(frontend: Frontend): string {
  const service = `${frontend.protocol.toLowerCase()} . ${frontend.port}`;
  return frontend.kind === 'node-port' ? service : `${frontend.address} . ${service}`;
}

/** Slots of a by-source local list stand above those of the whole list in the sticky map. */
export const STICKY_LOCAL_SLOT = 0x1_0000;

/** The rows that are one frontend's own. */
export function rowsOf(programmed: Programmed, words: PlanWords): Rows {
  const rows = new Map<string, string>();
  const { frontend } = programmed;
  const nodePort = frontend.kind === 'node-port';
  const parts = frontendParts(frontend);
  const mapName = (name: string): string => (nodePort ? `node-port-${name}` : name);
  const put = (set: RowSet, key: string, data = ''): void => {
    rows.set(rowId(set, key), data);
  };
  const putList = (list: SlotList): void => {
    const sticky = list.plan.affinitySeconds > 0;
    const map = mapName(sticky ? 'sticky-endpoints' : list.plan.local ? 'local-endpoints' : 'endpoints');
    const base = sticky && list.plan.local ? STICKY_LOCAL_SLOT : 0;
    if (list.sticky)
      put(mapName(list.plan.local ? 'local-affinity-ids' : 'affinity-ids'), parts, String(list.sticky.id));
    for (const [slot, endpoint] of list.slots.entries()) {
      if (endpoint !== undefined)
        put(map, `${parts} . ${base + slot}`, `${endpoint.address} . ${endpoint.port}`);
    }
  };

  put(nodePort ? 'node-ports' : 'services', parts, String(dispatchWord(programmed, words)));
  if (programmed.any !== undefined) {
    putList(programmed.any);
    if (programmed.plan === 'by-source')
      put(mapName('any-endpoint'), parts, String(words.wordOf(programmed.any.plan)));
  }
  if (programmed.local !== undefined) {
    putList(programmed.local);
    put(mapName('local-endpoint'), parts, String(words.wordOf(programmed.local.plan)));
  }
  if (programmed.masquerade !== 'unless-pod') {
    const own = programmed.masquerade === 'own' ? '-own' : '';
    put(`masquerade${own}-${nodePort ? 'node-ports' : 'vips'}`, parts);
  }
  if (programmed.allowedSources !== undefined && !nodePort) {
    put('source-checked', parts);
    for (const cidr of programmed.allowedSources) put('allowed-sources', `${cidr} . ${parts}`);
  }
  return rows;
}

function dispatchWord(programmed: Programmed, words: PlanWords): PlanWord {
  switch (programmed.plan) {
    case 'list':
      return programmed.any === undefined ? REFUSE_WORD : words.wordOf(programmed.any.plan);
    case 'by-source':
      return BY_SOURCE_WORD;
    case 'refuse':
      return REFUSE_WORD;
    case 'drop':
      return DROP_WORD;
  }
}

/** Rows that several frontends may share: counted, and in the kernel while the count is not 0. */
export function sharedRowsOf(programmed: Programmed): readonly string[] {
  const rows: string[] = [];
  if (programmed.frontend.kind === 'cluster-ip') rows.push(rowId('cluster-ips', programmed.frontend.address));
  const locals = new Set<string>();
  for (const list of [programmed.any, programmed.local]) {
    for (const endpoint of list?.slots ?? []) if (endpoint?.local) locals.add(endpoint.address);
  }
  for (const address of locals) rows.push(rowId('hairpin-pods', `${address} . ${address}`));
  return rows;
}

/** The rungs that must exist before a packet may be sent there. */
export function rungsOf(programmed: Programmed): readonly ListPlan[] {
  return [programmed.any, programmed.local].flatMap((list) => (list === undefined ? [] : [list.plan]));
}

const ROW_SETS_WITH_SLOTS = new Set(['endpoints', 'local-endpoints', 'sticky-endpoints']);

/** The frontend that a row belongs to, and for a list row its slot; undefined for shared rows. */
export function placeOf(
  id: string,
  family: 'IPv4' | 'IPv6',
): { readonly frontend: string; readonly slot?: number } | undefined {
  const set = setOfRow(id);
  if (set === 'cluster-ips' || set === 'hairpin-pods') return undefined;
  const parts = keyOfRow(id).split(' . ');
  const nodePort = set.startsWith('node-port') || set.endsWith('node-ports');
  if (set === 'allowed-sources') parts.shift();
  const address = nodePort ? undefined : parts.shift();
  const [protocol = '', port = '0', slot] = parts;
  const frontend =
    address === undefined
      ? `nodeport/${family}/${protocol.toUpperCase()}/${port}`
      : `${address}/${protocol.toUpperCase()}/${port}`;
  const base = set.replace('node-port-', '');
  return ROW_SETS_WITH_SLOTS.has(base) ? { frontend, slot: Number(slot) } : { frontend };
}

/** The lists that rows found in the kernel stand for: a start for `programmedOf`, so that little moves. */
export function listsFromRows(rows: Rows): PreviousLists {
  const dense = { any: [] as (Endpoint | undefined)[], local: [] as (Endpoint | undefined)[] };
  const sticky = { any: [] as (Endpoint | undefined)[], local: [] as (Endpoint | undefined)[] };
  const ids: { any?: number; local?: number } = {};
  for (const [id, data] of rows) {
    const base = setOfRow(id).replace('node-port-', '');
    if (base === 'affinity-ids') ids.any = Number(data);
    if (base === 'local-affinity-ids') ids.local = Number(data);
    if (!ROW_SETS_WITH_SLOTS.has(base)) continue;
    const word = Number(keyOfRow(id).split(' . ').at(-1));
    const [address = '', port = '0'] = data.split(' . ');
    const endpoint: Endpoint = { address, port: Number(port), local: false };
    const isLocal = base === 'sticky-endpoints' ? word >= STICKY_LOCAL_SLOT : base === 'local-endpoints';
    const slot = base === 'sticky-endpoints' && isLocal ? word - STICKY_LOCAL_SLOT : word;
    if (slot <= LARGEST_RUNG)
      (base === 'sticky-endpoints' ? sticky : dense)[isLocal ? 'local' : 'any'][slot] = endpoint;
  }
  const seen = (which: 'any' | 'local'): SeenList => ({ id: ids[which], slots: Array.from(sticky[which]) });
  return {
    any: Array.from(dense.any),
    local: Array.from(dense.local),
    seen: { any: seen('any'), local: seen('local') },
  };
}
