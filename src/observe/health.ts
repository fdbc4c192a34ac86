// Whether this node's proxy is well, as /healthz and /livez tell (behaviour spec 6.1).
import type { Family } from '../model/address.ts';

/** What health needs of the own Node. */
export interface NodeState {
  /** It is being deleted. */
  readonly deleting: boolean;
  /** Keys. */
  readonly taints: readonly string[];
}

export interface HealthOptions {
  readonly families: readonly Family[];
  /** A change that waits for twice this makes its family unhealthy. */
  readonly syncPeriodMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export type HealthPath = '/healthz' | '/livez';

export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly body: string;
}

/** What health is made of. */
export interface HealthSummary {
  /** `leaving`: the autoscaler's taint is on it. All but `eligible` make /healthz fail. */
  readonly node: 'eligible' | 'unknown' | 'deleting' | 'leaving';
  readonly families: readonly {
    readonly family: Family;
    readonly healthy: boolean;
    /** Since when a change waits, ms since 1970. */
    readonly queuedAt: number | undefined;
  }[];
}

export interface Health {
  /** A change waits to be committed. Only the first counts until `updated`. */
  queued(): void;
  /** All that was queued is in the kernel. */
  updated(): void;
  /** The own Node as last seen; undefined when it is not in the cluster. */
  setNode(node: NodeState | undefined): void;
  /** Whether all families are well: what Service health checks ask. */
  readonly healthy: boolean;
  summary(): HealthSummary;
  answer(path: HealthPath): HealthAnswer;
}

/** Cluster autoscaler sets it on a node that it is about to remove. */
const LEAVING_TAINT = 'ToBeDeletedByClusterAutoscaler';
/** What Go prints for a time that was never set. */
const NEVER = '0001-01-01T00:00:00Z';

/** Why the node's standing makes /healthz fail. */
const NODE_REASONS: Readonly<Record<HealthSummary['node'], readonly string[]>> = {
  eligible: [],
  unknown: ['the own Node is not in the cluster: is its name right?'],
  deleting: ['the Node is being deleted'],
  leaving: [`the Node has the taint ${LEAVING_TAINT}`],
};

interface FamilyState {
  queuedAt: number | undefined;
  updatedAt: number | undefined;
}

export function createHealth({ families, syncPeriodMs, now }: HealthOptions): Health {
  const states = new Map<Family, FamilyState>(
    families.map((family) => [family, { queuedAt: undefined, updatedAt: undefined }]),
  );
  let node: NodeState | undefined;

  const isWell = ({ queuedAt }: FamilyState, at: number): boolean =>
    queuedAt === undefined || at - queuedAt < 2 * syncPeriodMs;
  const nodeStanding = (): HealthSummary['node'] => {
    if (node === undefined) return 'unknown';
    if (node.deleting) return 'deleting';
    return node.taints.includes(LEAVING_TAINT) ? 'leaving' : 'eligible';
  };
  const because = (path: HealthPath, at: number): readonly string[] => [
    ...[...states].flatMap(([family, { queuedAt }]) =>
      queuedAt === undefined || isWell({ queuedAt, updatedAt: undefined }, at)
        ? []
        : [
            `a change of ${family} has waited for ${Math.round((at - queuedAt) / 1000)} s to be in the kernel`,
          ],
    ),
    ...(path === '/healthz' ? NODE_REASONS[nodeStanding()] : []),
  ];
  const allWell = (at: number): boolean => [...states.values()].every((state) => isWell(state, at));

  return {
    queued() {
      for (const state of states.values()) state.queuedAt ??= now();
    },
    updated() {
      for (const state of states.values()) {
        state.queuedAt = undefined;
        state.updatedAt = now();
      }
    },
    setNode(seen) {
      node = seen;
    },
    get healthy() {
      return allWell(now());
    },
    summary() {
      const at = now();
      return {
        node: nodeStanding(),
        families: [...states].map(([family, state]) => ({
          family,
          healthy: isWell(state, at),
          queuedAt: state.queuedAt,
        })),
      };
    },
    answer(path) {
      const at = now();
      const healthy = allWell(at);
      const nodeEligible = nodeStanding() === 'eligible';
      const good = healthy && (path === '/livez' || nodeEligible);
      const status: Record<string, { readonly lastUpdated: string; readonly healthy: boolean }> = {};
      let latest: number | undefined;
      for (const [family, state] of states) {
        // A family that nothing was ever asked of has no state to tell.
        if (state.updatedAt === undefined && state.queuedAt === undefined) continue;
        status[family] = { lastUpdated: timeText(state.updatedAt), healthy: isWell(state, at) };
        if (state.updatedAt !== undefined) latest = Math.max(latest ?? 0, state.updatedAt);
      }
      const body = {
        lastUpdated: timeText(good ? at : latest),
        currentTime: timeText(at),
        ...(path === '/healthz' ? { nodeEligible } : {}),
        healthy,
        ...(Object.keys(status).length === 0 ? {} : { status }),
        // Upstream's body ends here: what follows says why the answer is what it is.
        ...(good ? {} : { because: because(path, at) }),
      };
      return { status: good ? 200 : 503, body: JSON.stringify(body) };
    },
  };
}

function timeText(at: number | undefined): string {
  return at === undefined ? NEVER : new Date(at).toISOString();
}
