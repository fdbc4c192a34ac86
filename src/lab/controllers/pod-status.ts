// What a kubelet says of its Pods.
import { withFields } from '../api/json.ts';
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../api/resources/pod/types.ts';
import { timestamp } from '../api/time.ts';

/** `kubectl annotate pod NAME pointsman.example/ready=false` takes a Pod out of service, `true` (or none) puts it back. */
export const READY_ANNOTATION = 'pointsman.example/ready';
/** How long a Pod goes on serving after it was told to end, in seconds; never longer than its grace period. */
export const SHUTDOWN_ANNOTATION = 'pointsman.example/shutdown-seconds';
/** Without the annotation: long enough to see that it still serves, short enough for a demonstration. */
export const SHUTDOWN_SECONDS = 2;

/** Whether the server in the Pod says that it is ready. */
export function isServing(pod: Pod): boolean {
  return pod.metadata.annotations?.[READY_ANNOTATION] !== 'false';
}

/** For how long a Pod that is being deleted goes on, in ms from the deletion on. */
export function shutdownMs({ metadata }: Pod): number {
  const asked = Number(metadata.annotations?.[SHUTDOWN_ANNOTATION] ?? Number.NaN);
  const own = Number.isFinite(asked) && asked >= 0 ? asked : SHUTDOWN_SECONDS;
  return 1000 * Math.min(metadata.deletionGracePeriodSeconds ?? own, own);
}

export interface RunningPod {
  readonly hostIps: readonly string[];
  readonly podIps: readonly string[];
  /** When its servers came up, ms since 1970. */
  readonly startedAt: number;
}

/** The status of a Pod whose servers run. */
export function runningStatus(pod: Pod, running: RunningPod, now: number): PodStatus {
  const serving = isServing(pod);
  const gates = pod.spec.readinessGates ?? [];
  const open = gates.every(({ conditionType }) => isTrue(pod, conditionType));
  const startedAt = timestamp(running.startedAt);
  const containersReady: PodCondition = serving
    ? { type: 'ContainersReady', status: 'True' }
    : { type: 'ContainersReady', status: 'False', ...unready(pod) };
  const ready: PodCondition = !serving
    ? { type: 'Ready', status: 'False', ...unready(pod) }
    : open
      ? { type: 'Ready', status: 'True' }
      : { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' };
  const started = ['PodReadyToStartContainers', 'Initialized', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
  }));
  return withFields(pod.status, {
    phase: 'Running',
    message: undefined,
    reason: undefined,
    conditions: merged(pod, [...started, ready, containersReady], now),
    hostIP: running.hostIps[0],
    hostIPs: running.hostIps.map((ip) => ({ ip })),
    podIP: running.podIps[0],
    podIPs: running.podIps.map((ip) => ({ ip })),
    startTime: startedAt,
    containerStatuses: pod.spec.containers.map((container) => ({
      ...containerStatus(pod, container),
      ready: serving,
      started: true,
      state: { running: { startedAt } },
    })),
    ...(pod.spec.initContainers === undefined
      ? {}
      : {
          initContainerStatuses: pod.spec.initContainers.map((container) =>
            initStatus(pod, container, startedAt),
          ),
        }),
  });
}

/** The status of a Pod whose servers cannot be started. */
export function stuckStatus(pod: Pod, because: string, now: number): PodStatus {
  const waiting = { reason: 'CreateContainerError', message: because };
  const stuck = { status: 'False', reason: 'ContainersNotReady', message: because };
  const conditions = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', ...stuck },
    { type: 'ContainersReady', ...stuck },
  ];
  return withFields(pod.status, {
    phase: 'Pending',
    conditions: merged(pod, conditions, now),
    containerStatuses: pod.spec.containers.map((container) => ({
      ...containerStatus(pod, container),
      ready: false,
      started: false,
      state: { waiting },
    })),
  });
}

const isTrue = (pod: Pod, condition: string): boolean =>
  pod.status.conditions?.some(({ type, status }) => type === condition && status === 'True') === true;

function unready(pod: Pod): { readonly reason: string; readonly message: string } {
  const names = pod.spec.containers.map(({ name }) => name).join(' ');
  return { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` };
}

/** Own conditions over the present ones, which keep their time while their status stays; others' are left as they are. */
function merged(pod: Pod, own: readonly PodCondition[], now: number): readonly PodCondition[] {
  const present = pod.status.conditions ?? [];
  const types = new Set(own.map(({ type }) => type));
  const timed = own.map((condition) => {
    const before = present.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? timestamp(now) };
  });
  return [...timed, ...present.filter(({ type }) => !types.has(type))];
}

function containerStatus(
  pod: Pod,
  { name, image = '' }: Container,
): Omit<ContainerStatus, 'state' | 'ready'> {
  return {
    name,
    restartCount: 0,
    image,
    imageID: image,
    containerID: `pointsman-lab://${pod.metadata.uid ?? ''}-${name}`,
  };
}

/** A sidecar runs like any container; another init container is taken to have done its work. */
function initStatus(pod: Pod, container: Container, startedAt: string): ContainerStatus {
  const status = containerStatus(pod, container);
  if (container.restartPolicy === 'Always')
    return {
      ...status,
      name: container.name,
      restartCount: 0,
      ready: isServing(pod),
      started: true,
      state: { running: { startedAt } },
    };
  const terminated = { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt };
  return {
    ...status,
    name: container.name,
    restartCount: 0,
    ready: true,
    started: false,
    state: { terminated },
  };
}
