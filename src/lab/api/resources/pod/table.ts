// The row of a Pod in `kubectl get pods`: READY, STATUS and RESTARTS sum up the containers' states.
import { ageOf } from '../../time.ts';
import { AGE_COLUMN, type Cell, type Column, column, NAME_COLUMN } from '../definition.ts';
import type { Container, ContainerState, ContainerStatus, Pod } from './types.ts';

export const POD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready'),
  column('Status'),
  column('Restarts'),
  AGE_COLUMN,
  column('IP', { wide: true }),
  column('Node', { wide: true }),
  column('Nominated Node', { wide: true }),
  column('Readiness Gates', { wide: true }),
];

/** The one word for a container that ended. */
function endWord(state: ContainerState | undefined): string | undefined {
  const end = state?.terminated;
  if (end === undefined) return undefined;
  if (end.reason !== undefined) return end.reason;
  return end.signal === undefined ? `ExitCode:${end.exitCode}` : `Signal:${end.signal}`;
}

/** What the init containers are busy with; undefined when they are through. */
function initWord(inits: readonly Container[], statuses: readonly ContainerStatus[]): string | undefined {
  for (const [at, status] of statuses.entries()) {
    if (status.state?.terminated?.exitCode === 0) continue;
    const sidecar = inits.find(({ name }) => name === status.name)?.restartPolicy === 'Always';
    if (sidecar && status.started === true) continue;
    const ended = endWord(status.state);
    if (ended !== undefined) return `Init:${ended}`;
    const waiting = status.state?.waiting?.reason;
    return waiting !== undefined && waiting !== 'PodInitializing'
      ? `Init:${waiting}`
      : `Init:${at}/${inits.length}`;
  }
  return undefined;
}

function statusWord(pod: Pod): string {
  const { status, metadata } = pod;
  const sum = (): string => {
    const init = initWord(pod.spec.initContainers ?? [], status.initContainerStatuses ?? []);
    if (init !== undefined) return init;
    const statuses = status.containerStatuses ?? [];
    // The first container in trouble counts, as the table of the real server has it.
    let word: string | undefined;
    for (const { state } of [...statuses].reverse()) word = state?.waiting?.reason ?? endWord(state) ?? word;
    const running = statuses.some(({ ready, state }) => ready && state?.running !== undefined);
    if (word === 'Completed' && running)
      return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
        ? 'Running'
        : 'NotReady';
    return word ?? status.reason ?? status.phase ?? 'Unknown';
  };
  if (metadata.deletionTimestamp === undefined) return sum();
  return status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
}

function restarts(statuses: readonly ContainerStatus[], now: number): string {
  const count = statuses.reduce((total, { restartCount }) => total + restartCount, 0);
  const ends = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []).sort();
  const last = ends.at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${ageOf(last, now)} ago)`;
}

export function podCells(pod: Pod, now: number): readonly Cell[] {
  const { spec, status, metadata } = pod;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = new Set([...spec.containers, ...sidecars].map(({ name }) => name));
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const ready = all.filter((one) => names.has(one.name) && one.ready).length;
  const gates = spec.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) =>
    (status.conditions ?? []).some(({ type, status: is }) => type === conditionType && is === 'True'),
  );
  return [
    metadata.name ?? '',
    `${ready}/${names.size}`,
    statusWord(pod),
    restarts(all, now),
    ageOf(metadata.creationTimestamp, now),
    status.podIPs?.[0]?.ip ?? status.podIP ?? '<none>',
    spec.nodeName ?? '<none>',
    status.nominatedNodeName ?? '<none>',
    gates.length === 0 ? '<none>' : `${open.length}/${gates.length}`,
  ];
}
