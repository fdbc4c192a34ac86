// What a kubelet does next about one Pod.
import type { Pod } from '../api/resources/pod/types.ts';
import type { RunningPod } from './pod-status.ts';

/** What the kubelet knows of a Pod that it has taken on. */
export type PodEntry =
  | ({
      readonly kind: 'running';
      readonly uid: string;
      /** When a Pod that is being deleted stops to serve, ms since 1970. */
      readonly endsAt: number | undefined;
    } & RunningPod)
  | { readonly kind: 'stuck'; readonly uid: string; readonly because: string };

export type KubeletStep =
  /** Nothing, until something changes. */
  | 'nothing'
  | 'start'
  /** Tell the API how it is. */
  | 'report'
  /** It is to end, and goes on serving for a while. */
  | 'drain'
  /** Its time is over: stop it, and take the object away. */
  | 'end'
  /** Nothing runs (any more) that the object could wait for. */
  | 'finish'
  /** The object is gone, or is another Pod of the same name: stop at once. */
  | 'abandon';

export function nextStep(pod: Pod | undefined, entry: PodEntry | undefined, now: number): KubeletStep {
  if (entry !== undefined && entry.uid !== pod?.metadata.uid) return 'abandon';
  if (pod === undefined || pod.spec.nodeName === undefined) return 'nothing';
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (entry?.kind !== 'running') return 'finish';
    return entry.endsAt !== undefined && now >= entry.endsAt ? 'end' : 'drain';
  }
  const ended = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
  if (entry === undefined) return ended ? 'nothing' : 'start';
  return entry.kind === 'running' ? 'report' : 'nothing';
}
