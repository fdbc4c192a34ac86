// What a lab says of itself in its folder, for the other commands: which processes it has, and where everything is.
import * as v from 'valibot';
import { PointsmanError } from '../../base/errors.ts';
import type { ProcessIdentity } from './process-identity.ts';

export interface PointsmanState {
  /** Null while it does not run. */
  readonly process: ProcessIdentity | null;
  readonly log: string;
  /** Where its health server listens, inside the node's namespace. */
  readonly healthz: { readonly address: string; readonly port: number };
}

export interface NodeState {
  readonly name: string;
  readonly zone: string;
  /** Name of the network namespace, for `ip netns exec`. */
  readonly namespace: string;
  readonly addresses: readonly string[];
  /** Null on a node without one. */
  readonly pointsman: PointsmanState | null;
}

export interface LabState {
  readonly version: 1;
  readonly name: string;
  readonly phase: 'starting' | 'ready';
  /** The process that serves the API and the Pods. */
  readonly process: ProcessIdentity;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The API server's URL on the machine; empty while it starts. */
  readonly server: string;
  readonly kubeconfig: string;
  readonly nodes: readonly NodeState[];
}

const PROCESS: v.GenericSchema<ProcessIdentity> = v.object({ pid: v.number(), startedAt: v.number() });
const POINTSMAN: v.GenericSchema<PointsmanState> = v.object({
  process: v.nullable(PROCESS),
  log: v.string(),
  healthz: v.object({ address: v.string(), port: v.number() }),
});
const NODE: v.GenericSchema<NodeState> = v.object({
  name: v.string(),
  zone: v.string(),
  namespace: v.string(),
  addresses: v.array(v.string()),
  pointsman: v.nullable(POINTSMAN),
});
const STATE: v.GenericSchema<LabState> = v.object({
  version: v.literal(1),
  name: v.string(),
  phase: v.picklist(['starting', 'ready']),
  process: PROCESS,
  startedAt: v.string(),
  server: v.string(),
  kubeconfig: v.string(),
  nodes: v.array(NODE),
});

export function encodeLabState(state: LabState): string {
  return `${JSON.stringify(state, undefined, 2)}\n`;
}

/** Reads the text of a state file. Throws E_LAB for anything else. */
export function decodeLabState(text: string): LabState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PointsmanError('E_LAB', 'the state of the lab is no JSON', { cause });
  }
  const parsed = v.safeParse(STATE, value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue) ?? '';
  throw new PointsmanError('E_LAB', `the state of the lab is not readable: ${path}: ${issue.message}`, {
    hint: 'it may be that of another version of Pointsman: take the lab down and up again',
  });
}
