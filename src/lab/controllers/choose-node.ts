// Where a Pod goes that names no node.
import type { Pod } from '../api/resources/pod/types.ts';
import type { Node } from './node-object.ts';

export type Placement =
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'nowhere'; readonly because: string };

/**
 * The node with the fewest Pods, by name among equals, so that Pods that come one after the other go round the nodes.
 * Nodes that are cordoned, not ready or lack a label of `spec.nodeSelector` are passed over.
 */
export function chooseNode(pod: Pod, nodes: readonly Node[], podsOn: (node: string) => number): Placement {
  if (nodes.length === 0) return { kind: 'nowhere', because: 'no nodes available to schedule pods' };
  const wanted = Object.entries((pod.spec.nodeSelector ?? {}) as Readonly<Record<string, string>>);
  const counts = new Map<string, number>();
  const names: string[] = [];
  for (const node of nodes) {
    const obstacle = obstacleOf(node, wanted);
    if (obstacle === undefined) names.push(node.metadata.name ?? '');
    else counts.set(obstacle, (counts.get(obstacle) ?? 0) + 1);
  }
  const [best] = names.sort((one, other) => podsOn(one) - podsOn(other) || (one < other ? -1 : 1));
  if (best !== undefined) return { kind: 'node', name: best };
  const reasons = [...counts].map(([why, count]) => `${count} ${why}`).join(', ');
  return { kind: 'nowhere', because: `0/${nodes.length} nodes are available: ${reasons}.` };
}

function obstacleOf(
  { metadata, spec, status }: Node,
  wanted: readonly (readonly [string, string])[],
): string | undefined {
  if (spec.unschedulable === true) return 'node(s) were unschedulable';
  const ready = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
  if (!ready) return 'node(s) were not ready';
  const fits = wanted.every(([label, value]) => metadata.labels?.[label] === value);
  return fits ? undefined : "node(s) didn't match Pod's node affinity/selector";
}
