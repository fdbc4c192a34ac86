// Runs the Pods of all the lab's nodes: one kubelet for all, since one process serves them all.
import { sameJson } from '../api/json.ts';
import type { Pod } from '../api/resources/pod/types.ts';
import { type ControllerContext, settle } from './controller-context.ts';
import { recordEvent } from './event-recorder.ts';
import { nextStep, type PodEntry } from './kubelet-step.ts';
import { createObjectCache, type ObjectCache, objectKey } from './object-cache.ts';
import { type PodHost, podStart } from './pod-host.ts';
import { runningStatus, shutdownMs, stuckStatus } from './pod-status.ts';

const COMPONENT = 'kubelet';

export function startKubelet(context: ControllerContext, host: PodHost): AsyncDisposable {
  const { api } = context;
  const entries = new Map<string, PodEntry>();
  const timers = new Map<string, NodeJS.Timeout>();
  const named = new Set<string>();
  let working: Promise<void> | undefined;
  let closed = false;

  const look = (key: string): void => {
    named.add(key);
    if (!closed) working ??= work();
  };
  const pods: ObjectCache<Pod> = createObjectCache<Pod>(api, 'pods', (before, after) => {
    const pod = after ?? before;
    if (pod !== undefined) look(objectKey(pod));
  });
  const podOf = (key: string): Pod | undefined => {
    const [namespace = '', name = ''] = key.split('/');
    return pods.get(namespace, name);
  };

  return {
    async [Symbol.asyncDispose]() {
      closed = true;
      pods[Symbol.dispose]();
      for (const timer of timers.values()) clearTimeout(timer);
      await working;
    },
  };

  /** Goes round until nothing is left: all ends of one round at once, then all starts, since many are quicker together. */
  async function work(): Promise<void> {
    // Objects that are applied together come in the same turn of the event loop or the next.
    await new Promise((resolve) => setImmediate(resolve));
    while (named.size > 0 && !closed) {
      const keys = [...named];
      named.clear();
      const ends: string[] = [];
      const starts: string[] = [];
      for (const key of keys) {
        const pod = podOf(key);
        const step = nextStep(pod, entries.get(key), context.now());
        if (step === 'end' || step === 'abandon') ends.push(key);
        else if (step === 'start') starts.push(key);
        else if (step === 'finish' && pod !== undefined) finish(key, pod);
        else if (step === 'drain' && pod !== undefined) drain(key, pod);
        else if (step === 'report' && pod !== undefined) report(key, pod);
      }
      await stop(ends);
      await start(starts);
    }
    working = undefined;
  }

  async function stop(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const running = keys.filter((key) => entries.get(key)?.kind === 'running');
    await host
      .stop(running)
      .catch((error: unknown) => context.log.error(error, 'cannot stop Pods', { keys }));
    for (const key of keys) {
      const entry = entries.get(key);
      const pod = podOf(key);
      forget(key);
      if (pod !== undefined && pod.metadata.uid === entry?.uid) finish(key, pod);
      else named.add(key);
    }
    // What they held may be what others wait for.
    for (const [key, entry] of entries)
      if (entry.kind === 'stuck') {
        entries.delete(key);
        named.add(key);
      }
  }

  async function start(keys: readonly string[]): Promise<void> {
    const found = keys.flatMap((key) => {
      const pod = podOf(key);
      const node = pod?.spec.nodeName;
      return pod === undefined || node === undefined ? [] : [{ key, pod, node }];
    });
    if (found.length === 0) return;
    const outcomes = await host.start(found.map(({ key, pod, node }) => podStart(key, node, pod)));
    for (const [index, { key, pod, node }] of found.entries()) {
      const outcome = outcomes[index];
      const uid = pod.metadata.uid ?? '';
      const event = { component: COMPONENT, host: node };
      if (outcome?.kind === 'running') {
        const { podIps, hostIps } = outcome;
        entries.set(key, {
          kind: 'running',
          uid,
          podIps,
          hostIps,
          startedAt: context.now(),
          endsAt: undefined,
        });
        for (const { name } of pod.spec.containers)
          recordEvent(context, pod, {
            type: 'Normal',
            reason: 'Started',
            message: `Started container ${name}`,
            ...event,
          });
      } else {
        const because = outcome?.because ?? 'it was not started';
        entries.set(key, { kind: 'stuck', uid, because });
        recordEvent(context, pod, {
          type: 'Warning',
          reason: 'Failed',
          message: `Error: ${because}`,
          ...event,
        });
      }
      const now = podOf(key);
      if (now?.metadata.uid === uid) report(key, now);
      named.add(key);
    }
  }

  function report(key: string, pod: Pod): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    const status =
      entry.kind === 'running'
        ? runningStatus(pod, entry, context.now())
        : stuckStatus(pod, entry.because, context.now());
    if (sameJson(status, pod.status)) return;
    settle(
      context,
      `status of Pod ${key}`,
      api.updateStatus('pods', { ...pod, status }, { manager: COMPONENT }),
    );
  }

  function drain(key: string, pod: Pod): void {
    const entry = entries.get(key);
    if (entry?.kind !== 'running') return;
    if (entry.endsAt === undefined)
      for (const { name } of pod.spec.containers)
        recordEvent(context, pod, {
          type: 'Normal',
          reason: 'Killing',
          message: `Stopping container ${name}`,
          component: COMPONENT,
          ...(pod.spec.nodeName === undefined ? {} : { host: pod.spec.nodeName }),
        });
    const now = context.now();
    // A second deletion can only shorten the time.
    const endsAt = Math.min(entry.endsAt ?? Number.POSITIVE_INFINITY, now + shutdownMs(pod));
    entries.set(key, { ...entry, endsAt });
    report(key, pod);
    clearTimeout(timers.get(key));
    timers.set(
      key,
      setTimeout(() => look(key), Math.max(0, endsAt - now)),
    );
  }

  function finish(key: string, pod: Pod): void {
    forget(key);
    const { namespace, name = '', uid = '' } = pod.metadata;
    const place = { resource: 'pods', namespace, name } as const;
    settle(context, `Pod ${key}`, api.delete(place, { gracePeriodSeconds: 0, uid }));
  }

  function forget(key: string): void {
    clearTimeout(timers.get(key));
    timers.delete(key);
    entries.delete(key);
  }
}
