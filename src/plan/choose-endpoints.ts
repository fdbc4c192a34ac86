// Which endpoints new connections may use (behaviour spec 3.1; KEP-1669, KEP-2086, KEP-2433, KEP-4444).
import type { Candidate } from './merge-slices.ts';

/** What the choice depends on beside the endpoints. */
export interface ChoiceFacts {
  readonly nodeName: string;
  /** This node's zone, empty when it has none. */
  readonly zone: string;
}

export interface Choice {
  readonly endpoints: readonly Candidate[];
  /** Why these, as explain says it. */
  readonly because: string;
}

/**
 * The cluster-wide list: ready endpoints, nearby ones when all carry usable hints; when none is ready, those that are
 * terminating but still serve, wherever they are.
 */
export function chooseAnywhere(candidates: readonly Candidate[], facts: ChoiceFacts): Choice {
  const ready = candidates.filter(({ traits }) => traits.state === 'ready');
  if (ready.length > 0) return chooseNearby(ready, facts);
  return chooseTerminating(candidates, 'none is ready');
}

/** The list of this node: ready endpoints here, else those terminating here. Hints never apply. */
export function chooseOnNode(candidates: readonly Candidate[], facts: ChoiceFacts): Choice {
  const here = candidates.filter(({ traits }) => traits.node === facts.nodeName);
  const ready = here.filter(({ traits }) => traits.state === 'ready');
  if (ready.length > 0) return { endpoints: ready, because: `ready on ${facts.nodeName}` };
  return chooseTerminating(here, `none is ready on ${facts.nodeName}`);
}

/** Whether any endpoint, anywhere, could take a connection. */
export function anyUsable(candidates: readonly Candidate[]): boolean {
  return candidates.some(({ traits }) => traits.state !== 'down');
}

function chooseTerminating(candidates: readonly Candidate[], why: string): Choice {
  const endpoints = candidates.filter(({ traits }) => traits.state === 'terminating');
  if (endpoints.length === 0) return { endpoints, because: why };
  return { endpoints, because: `terminating but still serving, since ${why}` };
}

/** Hints of a kind count only if every ready endpoint has one, and at least one names this node or zone. */
function chooseNearby(ready: readonly Candidate[], { nodeName, zone }: ChoiceFacts): Choice {
  if (ready.every(({ traits }) => traits.nodeHints.length > 0)) {
    const here = ready.filter(({ traits }) => traits.nodeHints.includes(nodeName));
    if (here.length > 0) return { endpoints: here, because: `ready and hinted for node ${nodeName}` };
  }
  const hinted = ready.filter(({ traits }) => traits.zoneHints.length > 0);
  if (hinted.length === 0) return { endpoints: ready, because: 'ready' };
  if (hinted.length < ready.length) {
    return {
      endpoints: ready,
      because: 'ready; zone hints are ignored, since not every ready endpoint has one',
    };
  }
  if (zone === '')
    return { endpoints: ready, because: `ready; zone hints are ignored, since node ${nodeName} has no zone` };
  const near = ready.filter(({ traits }) => traits.zoneHints.includes(zone));
  if (near.length === 0)
    return { endpoints: ready, because: `ready; zone hints are ignored, since none is for zone ${zone}` };
  return { endpoints: near, because: `ready and hinted for zone ${zone}` };
}
