// Slots and ids of sticky lists. All frontends of a Service port that draw from the same list share both, so that a
// client finds its endpoint again whichever frontend it comes by (upstream keeps affinity per Service port, too).
import { type Endpoint, endpointText, type ServicePort, servicePortKey } from '../../model/service-port.ts';
import { arrangeSticky, type Slots } from './slots.ts';

/** A Service port's cluster-wide list, or that of this node. */
export type ListName = string;

export function listName(port: ServicePort, from: 'cluster' | 'node'): ListName {
  return `${servicePortKey(port)}/${from}`;
}

export interface StickyList {
  /** Under which number clients are remembered. */
  readonly id: number;
  readonly slots: Slots;
}

/** What was seen in the kernel of a frontend's sticky list. */
export interface SeenList {
  readonly id: number | undefined;
  readonly slots: Slots;
}

/** The sticky lists that the kernel has acknowledged. */
export interface AffinityBook {
  /** Lists as of one transaction; `accept` enters them. */
  begin(): AffinityBatch;
  /** A frontend no longer draws from a list; a list without frontends is forgotten. */
  leave(name: ListName): void;
}

export interface AffinityBatch {
  /** The list with these endpoints, its slots as near to what they were as can be. */
  listOf(name: ListName, endpoints: readonly Endpoint[], seen: SeenList | undefined): StickyList;
  /** `joined`: the lists that frontends of this transaction draw from, once for each frontend. */
  accept(joined: readonly ListName[]): void;
}

export function createAffinityBook(): AffinityBook {
  const lists = new Map<ListName, StickyList & { frontends: number }>();
  const nameOfId = new Map<number, ListName>();
  let nextId = 1;

  /** An id is not used again while others are left: clients of a former Service may still be remembered under it. */
  const idFor = (name: ListName, seen: number | undefined): number => {
    if (seen !== undefined && seen > 0 && (nameOfId.get(seen) ?? name) === name) {
      nextId = Math.max(nextId, seen + 1);
      nameOfId.set(seen, name);
      return seen;
    }
    while (nameOfId.has(nextId)) nextId += 1;
    nameOfId.set(nextId, name);
    return nextId++;
  };

  return {
    begin() {
      const batch = new Map<ListName, StickyList>();
      return {
        listOf(name, endpoints, seen) {
          const known = batch.get(name);
          if (known !== undefined && holds(known.slots, endpoints)) return known;
          const before = known ?? lists.get(name);
          const list = {
            id: before?.id ?? idFor(name, seen?.id),
            slots: arrangeSticky(before?.slots ?? seen?.slots ?? [], endpoints),
          };
          batch.set(name, list);
          return list;
        },
        accept(joined) {
          for (const [name, list] of batch)
            lists.set(name, { ...list, frontends: lists.get(name)?.frontends ?? 0 });
          for (const name of joined) {
            const list = lists.get(name);
            if (list !== undefined) list.frontends += 1;
          }
          for (const name of batch.keys()) if (lists.get(name)?.frontends === 0) forget(name);
        },
      };
    },
    leave(name) {
      const list = lists.get(name);
      if (list === undefined) return;
      list.frontends -= 1;
      if (list.frontends <= 0) forget(name);
    },
  };

  function forget(name: ListName): void {
    const list = lists.get(name);
    if (list !== undefined) nameOfId.delete(list.id);
    lists.delete(name);
  }
}

/** Whether slots hold exactly these endpoints, which then are what they stand for, traits included. */
function holds(slots: Slots, endpoints: readonly Endpoint[]): boolean {
  const texts = new Set(
    slots.flatMap((endpoint) => (endpoint === undefined ? [] : [endpointText(endpoint)])),
  );
  return texts.size === endpoints.length && endpoints.every((endpoint) => texts.has(endpointText(endpoint)));
}
