// Which endpoint sits in which slot of a list. A packet draws a slot; a change of endpoints moves as few as it can.
import { type Endpoint, endpointText } from '../../model/service-port.ts';

/** Slot number → endpoint. Holes occur in sticky lists only. */
export type Slots = readonly (Endpoint | undefined)[];

/**
 * A dense list: slots 0 to N-1 are full. Endpoints that stay keep their slots as long as these exist, new ones take
 * those of the leaving ones, and when there are fewer, the last slots move into the gaps. Moving is harmless:
 * conntrack holds established connections.
 */
export function arrangeDense(previous: Slots, endpoints: readonly Endpoint[]): Slots {
  const waiting = new Map(endpoints.map((endpoint) => [endpointText(endpoint), endpoint]));
  const slots: (Endpoint | undefined)[] = [];
  for (let slot = 0; slot < endpoints.length; slot++) slots.push(take(waiting, previous[slot]));
  fillGaps(slots, waiting);
  return slots;
}

/**
 * A sticky list: clients remember slot numbers, so a staying endpoint keeps its slot and a leaving one leaves a hole,
 * which the next new endpoint fills. Slot 0, the last resort of every draw, is never empty: if need be an endpoint
 * stands there a second time. When half the slots are holes, the list is packed anew, which costs the moved clients
 * their memory.
 */
export function arrangeSticky(previous: Slots, endpoints: readonly Endpoint[]): Slots {
  const wanted = new Map(endpoints.map((endpoint) => [endpointText(endpoint), endpoint]));
  const waiting = new Map(wanted);
  const slots = previous.map((endpoint) => {
    if (endpoint === undefined) return undefined;
    const text = endpointText(endpoint);
    waiting.delete(text);
    return wanted.get(text);
  });
  fillGaps(slots, waiting);
  for (const endpoint of waiting.values()) slots.push(endpoint);
  while (slots.length > 0 && slots.at(-1) === undefined) slots.pop();
  const full = slots.filter((endpoint) => endpoint !== undefined);
  if (full.length * 2 <= slots.length) return arrangeDense(slots, endpoints);
  if (slots.length > 0 && slots[0] === undefined) slots[0] = full[0];
  return slots;
}

function take(waiting: Map<string, Endpoint>, endpoint: Endpoint | undefined): Endpoint | undefined {
  if (endpoint === undefined) return undefined;
  const text = endpointText(endpoint);
  const found = waiting.get(text);
  waiting.delete(text);
  return found;
}

function fillGaps(slots: (Endpoint | undefined)[], waiting: Map<string, Endpoint>): void {
  const next = waiting.entries();
  for (const [slot, endpoint] of slots.entries()) {
    if (endpoint !== undefined) continue;
    const { value } = next.next();
    if (value === undefined) return;
    slots[slot] = value[1];
    waiting.delete(value[0]);
  }
}
