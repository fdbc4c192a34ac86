// The Pointsmans of a lab, one per node.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { CLUSTER_RANGE } from '../network/address-plan.ts';
import type { NodePlace, Topology } from '../network/topology.ts';
import type { StateFolder } from '../state/state-folder.ts';
import { type HealthPlace, probeHealth } from './health-probe.ts';
import { createPointsmanProcess, type PointsmanProcess } from './pointsman-process.ts';

export interface PointsmanOptions {
  /** Flags for all, after the lab's own, which they may override. */
  readonly flags?: readonly string[];
  /** Further flags by node; `false` leaves the node without a Pointsman. */
  readonly perNode?: Readonly<Record<string, readonly string[] | false>>;
  /** Program and first arguments, instead of `bin/pointsman` of this repository. */
  readonly program?: readonly string[];
}

export interface Pointsmans extends AsyncDisposable {
  readonly all: readonly PointsmanProcess[];
  /** Throws E_LAB for a node that has none. */
  of(node: string): PointsmanProcess;
  /** Starts all; resolves when all are healthy. */
  start(signal?: AbortSignal): Promise<void>;
}

const HEALTHZ_PORT = 10_256;

/** Where the Pointsman of a node says whether it is healthy, seen from the node. */
export const healthPlace = ({ namespace, addresses }: NodePlace): HealthPlace => ({
  namespace,
  address: addresses.IPv4,
  port: HEALTHZ_PORT,
});

export interface PointsmansOptions extends PointsmanOptions {
  readonly sys: Sys;
  readonly topology: Topology;
  readonly folder: StateFolder;
  readonly log: Logger;
  readonly onChange: () => void;
}

/** The kubeconfigs of `folder.nodeKubeconfig` must be there before the start. */
export function createPointsmans(options: PointsmansOptions): Pointsmans {
  const { sys, topology, folder, log, onChange, program } = options;
  const processes = new Map<string, PointsmanProcess>();
  for (const place of topology.nodes()) {
    const { name: node } = place;
    const own = options.perNode?.[node] ?? [];
    if (own === false) continue;
    const process = createPointsmanProcess({
      node,
      namespace: topology.namespaceName(node),
      flags: [
        `--kubeconfig=${folder.nodeKubeconfig(node)}`,
        `--hostname-override=${node}`,
        `--cluster-cidr=${CLUSTER_RANGE.IPv4},${CLUSTER_RANGE.IPv6}`,
        `--healthz-bind-address=0.0.0.0:${HEALTHZ_PORT}`,
        // A lab is worth no more to the machine than anything else.
        '--oom-score-adj=0',
        // Namespaces have no limit of their own, and the machine's is not the lab's to set.
        '--conntrack-max-per-core=0',
        ...(options.flags ?? []),
        ...own,
      ],
      ...(program && { program }),
      logFile: folder.pointsmanLog(node),
      log,
      probe: () => probeHealth(sys, healthPlace(place)),
      onChange,
    });
    processes.set(node, process);
  }
  const all = [...processes.values()];
  return {
    all,
    of(node) {
      const found = processes.get(node);
      if (found !== undefined) return found;
      throw new PointsmanError('E_LAB', `the lab has no Pointsman on ${node}`, {
        hint: `there are ${[...processes.keys()].join(', ') || 'none'}`,
      });
    },
    async start(signal) {
      await Promise.all(all.map((process) => process.start()));
      await Promise.all(all.map((process) => process.healthy(signal)));
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(all.map((process) => process.stop()))),
  };
}
