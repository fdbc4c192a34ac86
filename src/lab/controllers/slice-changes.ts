// From the slices that there are to the slices that there should be, moving as few endpoints as possible: an endpoint
// stays in its slice, gaps are filled before new slices are made, and a slice that nothing happens to is not written.
import { sameJson } from '../api/json.ts';
import type { EndpointSlice, SliceEndpoint } from '../api/resources/endpoint-slice.ts';
import type { Service } from '../api/resources/service/types.ts';
import { type EndpointGroup, portsText, sliceLabels } from './endpoint-slices.ts';

/** Upstream's default of --max-endpoints-per-slice. */
export const ENDPOINTS_PER_SLICE = 100;
export const TRIGGER_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

export interface SliceChanges {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

export interface SliceChangesInput {
  readonly service: Service;
  readonly groups: readonly EndpointGroup[];
  /** The Service's slices that the controller manages. */
  readonly existing: readonly EndpointSlice[];
  /** When the change happened that the slices follow, ms since 1970; for the trigger-time annotation. */
  readonly triggeredAt: number;
  readonly perSlice?: number;
}

/** A slice while it is worked on: `slice` is what is stored, undefined for a new one. */
interface Draft {
  readonly slice: EndpointSlice | undefined;
  readonly group: EndpointGroup;
  readonly endpoints: SliceEndpoint[];
  changed: boolean;
}

export function sliceChanges(input: SliceChangesInput): SliceChanges {
  const { service, groups, existing, perSlice = ENDPOINTS_PER_SLICE } = input;
  const labels = sliceLabels(service);
  const drafts: Draft[] = [];
  const spare = new Set(existing);
  for (const group of groups) {
    const own = existing.filter((slice) => slice.addressType === group.family && samePorts(slice, group));
    const needed = distribute(group, own, perSlice);
    for (const { slice } of needed) if (slice !== undefined) spare.delete(slice);
    drafts.push(...needed);
  }
  const create: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  for (const { slice, group, endpoints, changed } of drafts) {
    if (slice === undefined) {
      // A slice that would go is written anew instead: watchers see one change, and the name stays.
      const reused = [...spare].find(({ addressType }) => addressType === group.family);
      if (reused === undefined) create.push(written(newSlice(service, group), group, endpoints));
      else {
        spare.delete(reused);
        update.push(written(reused, group, endpoints));
      }
    } else if (changed || !sameJson(slice.metadata.labels, labels))
      update.push(written(slice, group, endpoints));
  }
  return { create, update, remove: [...spare] };

  function written(
    slice: EndpointSlice,
    group: EndpointGroup,
    endpoints: readonly SliceEndpoint[],
  ): EndpointSlice {
    const annotations = {
      ...slice.metadata.annotations,
      [TRIGGER_ANNOTATION]: new Date(input.triggeredAt).toISOString(),
    };
    return { ...slice, metadata: { ...slice.metadata, labels, annotations }, endpoints, ports: group.ports };
  }
}

/** Puts a group's endpoints into slices. An empty group keeps or makes one empty slice; no other stays empty. */
function distribute(group: EndpointGroup, own: readonly EndpointSlice[], perSlice: number): readonly Draft[] {
  const wanted = new Map(group.endpoints.map((endpoint) => [identity(endpoint), endpoint]));
  const drafts = own.map((slice) => kept(slice, group, wanted));
  const rest = [...wanted.values()];
  const fill = (draft: Draft): void => {
    const added = rest.splice(0, perSlice - draft.endpoints.length);
    if (added.length === 0) return;
    draft.endpoints.push(...added);
    draft.changed = true;
  };
  // Those that must be written anyway come first.
  for (const draft of drafts) if (draft.changed && draft.endpoints.length > 0) fill(draft);
  if (rest.length > 0) {
    // Then the fullest that takes all that is left.
    const roomy = drafts
      .filter(({ endpoints }) => endpoints.length + rest.length <= perSlice)
      .sort((left, right) => right.endpoints.length - left.endpoints.length)[0];
    if (roomy !== undefined) fill(roomy);
  }
  while (rest.length > 0) {
    const empty = drafts.find(({ endpoints }) => endpoints.length === 0);
    const draft = empty ?? { slice: undefined, group, endpoints: [], changed: true };
    if (empty === undefined) drafts.push(draft);
    fill(draft);
  }
  const filled = drafts.filter(({ endpoints }) => endpoints.length > 0);
  if (filled.length > 0) return filled;
  return [drafts[0] ?? { slice: undefined, group, endpoints: [], changed: true }];
}

/** What of a stored slice is still wanted, in its order; takes it out of `wanted`. */
function kept(slice: EndpointSlice, group: EndpointGroup, wanted: Map<string, SliceEndpoint>): Draft {
  const endpoints: SliceEndpoint[] = [];
  let changed = false;
  for (const stored of slice.endpoints ?? []) {
    const key = identity(stored);
    const next = wanted.get(key);
    if (next === undefined) {
      changed = true;
      continue;
    }
    wanted.delete(key);
    changed ||= !sameJson(stored, next);
    endpoints.push(next);
  }
  return { slice, group, endpoints, changed };
}

/** Which Pod an endpoint is; one that someone wrote by hand has no Pod, and nothing wants it. */
function identity({ addresses, targetRef }: SliceEndpoint): string {
  return JSON.stringify(
    targetRef === undefined ? addresses : [targetRef.namespace, targetRef.name, targetRef.uid],
  );
}

function samePorts(slice: EndpointSlice, group: EndpointGroup): boolean {
  return portsText(slice.ports ?? []) === portsText(group.ports);
}

function newSlice(service: Service, { family, ports }: EndpointGroup): EndpointSlice {
  const { name = '', namespace = '', uid = '' } = service.metadata;
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      generateName: `${name}-`,
      namespace,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    addressType: family,
    endpoints: [],
    ports,
  };
}
