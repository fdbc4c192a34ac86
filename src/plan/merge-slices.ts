// One list of endpoints out of all slices of a Service (behaviour spec 2, Merge of a service's slices; KEP-752).
import type { Family } from '../model/address.ts';
import type { EndpointOfSlice, EndpointSlice } from '../model/endpoint-slice.ts';
import type { Protocol } from '../model/service.ts';
import { endpointText } from '../model/service-port.ts';

/** An endpoint of one Service port, with its traits and the slice that it came from. */
export interface Candidate {
  /** `address:port`: its identity. */
  readonly text: string;
  readonly port: number;
  readonly traits: EndpointOfSlice;
  /** Name of the slice, for explain. */
  readonly slice: string;
}

/**
 * The endpoints of a Service port, in the order of their text. A slice port belongs to the Service port of the same
 * name and protocol; its number is the endpoint's port. Of two copies of one endpoint the one that is not terminating
 * wins; slices are taken in the order of their names, so that the result does not depend on the order of events.
 */
export function mergeSlices(
  slices: readonly EndpointSlice[],
  family: Family,
  portName: string,
  protocol: Protocol,
): readonly Candidate[] {
  const found = new Map<string, Candidate>();
  for (const slice of inOrder(slices)) {
    if (slice.family !== family) continue;
    for (const port of slice.ports) {
      if (port.name !== portName || port.protocol !== protocol) continue;
      for (const traits of slice.endpoints) {
        const text = endpointText({ address: traits.address, port: port.port });
        if (traits.leaving && found.has(text)) continue;
        found.set(text, { text, port: port.port, traits, slice: slice.name });
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

function inOrder(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  return slices.length < 2
    ? slices
    : slices.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
