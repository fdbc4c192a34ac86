// What the lab's client asks, and what it met.
import type { FailureKind } from './client-failure.ts';
import { decodeEchoAnswer, type SocketEnd } from './echo-answer.ts';

/** Whom to ask, from where. */
export interface Target {
  /** Path of the client's network namespace; without it the process's own. */
  readonly namespace?: string;
  /** An address of that namespace, and maybe a port; without it the kernel chooses. */
  readonly source?: { readonly address: string; readonly port?: number };
  readonly address: string;
  readonly port: number;
}

export interface Answered {
  readonly kind: 'answered';
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  /** The client as the server saw it. */
  readonly client: SocketEnd;
  /** Where the server was reached. */
  readonly server: SocketEnd;
  readonly ms: number;
}

export interface Failure {
  readonly kind: 'failed';
  readonly how: FailureKind;
  /** The error's text. */
  readonly detail: string;
  readonly ms: number;
}

export type Answer = Answered | Failure;

/** Reads a server's line. */
export function answerOf(line: string, ms: number): Answer {
  const answer = decodeEchoAnswer(line);
  if (answer !== undefined) return { kind: 'answered', ...answer, ms };
  return { kind: 'failed', how: 'other', detail: `this is no lab's server: ${line.slice(0, 80)}`, ms };
}

export interface Tally {
  /** Pods by how often they answered, most first. */
  readonly pods: ReadonlyMap<string, number>;
  /** Failures by kind. */
  readonly failures: ReadonlyMap<FailureKind, number>;
}

export function tally(answers: readonly Answer[]): Tally {
  const pods = new Map<string, number>();
  const failures = new Map<FailureKind, number>();
  for (const answer of answers) {
    if (answer.kind === 'answered') pods.set(answer.pod, (pods.get(answer.pod) ?? 0) + 1);
    else failures.set(answer.how, (failures.get(answer.how) ?? 0) + 1);
  }
  return { pods: new Map([...pods].sort(([, one], [, other]) => other - one)), failures };
}
