// What a kubelet needs of the machine: somewhere for Pods to run.
import type { Pod } from '../api/resources/pod/types.ts';

export interface PortToServe {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
}

export interface PodStart {
  /** `namespace/name`. */
  readonly key: string;
  readonly node: string;
  /** It shares its node's network instead of having its own. */
  readonly hostNetwork: boolean;
  readonly ports: readonly PortToServe[];
}

export type PodOutcome =
  | { readonly kind: 'running'; readonly podIps: readonly string[]; readonly hostIps: readonly string[] }
  | { readonly kind: 'failed'; readonly because: string };

export interface PodHost {
  /** Gives Pods their network and starts their servers. One outcome per Pod, in their order; never rejects. */
  start(pods: readonly PodStart[]): Promise<readonly PodOutcome[]>;
  /** Ends Pods and takes their networks away; one that does not run is no error. */
  stop(keys: readonly string[]): Promise<void>;
}

/** What to start for a Pod that is bound to `node`: servers on the ports of all containers that stay. */
export function podStart(key: string, node: string, { spec }: Pod): PodStart {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = new Map<string, PortToServe>();
  for (const container of [...spec.containers, ...sidecars])
    for (const { containerPort: port, protocol } of container.ports ?? []) {
      const known = protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';
      ports.set(`${known}/${port}`, { protocol: known, port });
    }
  return { key, node, hostNetwork: spec.hostNetwork === true, ports: [...ports.values()] };
}
