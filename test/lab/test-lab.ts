// Labs for tests: with a name that no other process has, and gone at the end, also after a crash.
import { existsSync, rmSync } from 'node:fs';
import type { ApiObject } from '../../src/lab/api/api-object.ts';
import type { EndpointSlice } from '../../src/lab/api/resources/endpoint-slice.ts';
import type { Pod } from '../../src/lab/api/resources/pod/types.ts';
import type { LabIo } from '../../src/lab/commands/io.ts';
import { createLab, type Lab, type LabOptions } from '../../src/lab/lab.ts';
import { labNames, stateFolder } from '../../src/lab/state/state-folder.ts';
import { takeDown } from '../../src/lab/state/take-down.ts';
import { until } from '../../src/lab/until.ts';

let made = 0;

/** A name `pt-<pid>-<n>`, after the labs of dead test processes are gone. Disposing takes the lab down if it is up. */
export async function testLabName(): Promise<{ readonly name: string } & AsyncDisposable> {
  for (const name of labNames()) {
    const [, pid] = /^pt-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await remove(name);
  }
  made += 1;
  const name = `pt-${process.pid}-${made}`;
  return { name, [Symbol.asyncDispose]: () => remove(name) };
}

/** Takes a lab down, and with it the log that a crash is remembered by. */
async function remove(name: string): Promise<void> {
  const folder = stateFolder(name);
  await takeDown(name, folder);
  rmSync(folder.log, { force: true });
}

/** A lab in this process. */
export async function testLab(options: Omit<LabOptions, 'name'>): Promise<Lab> {
  const { name } = await testLabName();
  return createLab({ ...options, name });
}

/** A terminal that remembers. */
export function testIo(): LabIo & { readonly lines: string[]; readonly complaints: string[] } {
  const lines: string[] = [];
  const complaints: string[] = [];
  return {
    lines,
    complaints,
    out: (line) => void lines.push(line),
    err: (line) => void complaints.push(line),
  };
}

/** Waits for this many Pods in the namespace to run and be ready. */
export function readyPods(lab: Lab, namespace: string, count: number): Promise<readonly Pod[]> {
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  return until<Pod>(
    lab.api,
    'pods',
    `${count} ready Pods in ${namespace}`,
    (pods) => pods.filter(isReady).length === count,
    { namespace },
  );
}

/** Waits until a Service's slices of a family say so; each endpoint as `pod` and its conditions that are true. */
export async function endpointsOf(
  lab: Lab,
  service: string,
  family: 'IPv4' | 'IPv6',
  holds: (endpoints: readonly string[]) => boolean,
): Promise<readonly string[]> {
  const [namespace = '', name = ''] = service.split('/');
  const shown = (slices: readonly ApiObject[]): readonly string[] =>
    (slices as readonly EndpointSlice[])
      .filter(
        ({ metadata, addressType }) =>
          metadata.labels?.['kubernetes.io/service-name'] === name && addressType === family,
      )
      .flatMap(({ endpoints }) => endpoints ?? [])
      .map(({ targetRef, conditions: { ready, serving, terminating } }) =>
        [targetRef?.name, ready && 'ready', serving && 'serving', terminating && 'terminating']
          .filter((word) => word !== undefined && word !== false)
          .join(' '),
      )
      .sort();
  const slices = await until(
    lab.api,
    'endpointslices',
    `endpoints of ${service}`,
    (objects) => holds(shown(objects)),
    { namespace },
  );
  return shown(slices);
}
