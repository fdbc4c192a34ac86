// Binds Pods to nodes.
import { withFields } from '../api/json.ts';
import type { Pod, PodCondition } from '../api/resources/pod/types.ts';
import { timestamp } from '../api/time.ts';
import { chooseNode } from './choose-node.ts';
import { type ControllerContext, settle } from './controller-context.ts';
import { recordEvent } from './event-recorder.ts';
import type { Node } from './node-object.ts';
import { createObjectCache, type ObjectCache, objectKey } from './object-cache.ts';
import { createWorkQueue } from './work-queue.ts';

const COMPONENT = 'default-scheduler';

/** Pods that ask for another scheduler, or wait at a scheduling gate, are left alone. */
function isUnbound({ spec, metadata }: Pod): boolean {
  const gates = spec.schedulingGates;
  return (
    spec.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    (spec.schedulerName ?? COMPONENT) === COMPONENT &&
    !(Array.isArray(gates) && gates.length > 0)
  );
}

export function startScheduler(context: ControllerContext): Disposable {
  const { api } = context;
  const stack = new DisposableStack();
  const podsOn = new Map<string, number>();
  const waiting = new Set<string>();
  const count = (node: string | undefined, by: 1 | -1): void => {
    if (node !== undefined) podsOn.set(node, (podsOn.get(node) ?? 0) + by);
  };
  const queue = stack.use(createWorkQueue(bind));
  const nodes: ObjectCache<Node> = stack.use(
    createObjectCache<Node>(api, 'nodes', () => {
      for (const key of waiting) queue.add(key);
    }),
  );
  const pods: ObjectCache<Pod> = stack.use(
    createObjectCache<Pod>(api, 'pods', (before, after) => {
      count(before?.spec.nodeName, -1);
      count(after?.spec.nodeName, 1);
      if (after === undefined && before !== undefined) waiting.delete(objectKey(before));
      // A Pod that could not be placed is looked at again when a node changes, not for its own condition.
      if (after !== undefined && isUnbound(after) && !waiting.has(objectKey(after)))
        queue.add(objectKey(after));
    }),
  );
  return stack;

  function bind(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const pod = pods.get(namespace, name);
    if (pod === undefined || !isUnbound(pod)) return void waiting.delete(key);
    const placement = chooseNode(pod, nodes.all(), (node) => podsOn.get(node) ?? 0);
    if (placement.kind === 'node') {
      waiting.delete(key);
      const bound = { ...pod, spec: { ...pod.spec, nodeName: placement.name } };
      if (settle(context, `Pod ${key}`, api.update('pods', bound, { manager: COMPONENT })) === undefined)
        return;
      const message = `Successfully assigned ${key} to ${placement.name}`;
      recordEvent(context, pod, { type: 'Normal', reason: 'Scheduled', message, component: COMPONENT });
      return;
    }
    if (waiting.has(key)) return;
    waiting.add(key);
    const message = placement.because;
    recordEvent(context, pod, { type: 'Warning', reason: 'FailedScheduling', message, component: COMPONENT });
    const unscheduled: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: timestamp(context.now()),
    };
    const status = withFields(pod.status, { conditions: [unscheduled] });
    settle(
      context,
      `status of Pod ${key}`,
      api.updateStatus('pods', { ...pod, status }, { manager: COMPONENT }),
    );
  }
}
