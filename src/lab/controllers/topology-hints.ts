// For whom an endpoint is meant: spec.trafficDistribution (KEP-4444, KEP-3015).
import type { SliceEndpoint } from '../api/resources/endpoint-slice.ts';

interface Place {
  readonly ready: boolean;
  readonly nodeName: string | undefined;
  readonly zone: string | undefined;
}

/** An endpoint that is ready is meant for its own zone, or for its own node and zone. Others carry no hints. */
export function hintsFor(distribution: string | undefined, place: Place): SliceEndpoint['hints'] {
  const { ready, nodeName, zone } = place;
  if (!ready) return undefined;
  const forZones = zone === undefined ? {} : { forZones: [{ name: zone }] };
  switch (distribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return zone === undefined ? undefined : forZones;
    case 'PreferSameNode':
      return nodeName === undefined ? undefined : { forNodes: [{ name: nodeName }], ...forZones };
    default:
      return undefined;
  }
}
