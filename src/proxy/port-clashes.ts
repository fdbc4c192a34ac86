// Node ports that are health check node ports of another Service too: the API server gives both out of one range, and
// objects made by hand can have any. The node port has the packets, and health checks get no answer of ours.
import type { ServiceKey } from '../model/service.ts';

export interface PortClash {
  readonly nodePortOf: ServiceKey;
  readonly healthPortOf: ServiceKey;
}

export interface PortClashes {
  /** Who has a TCP node port now. */
  nodePort(port: number, service: ServiceKey | undefined): void;
  /** Who has a health check node port now. */
  healthPort(port: number, service: ServiceKey | undefined): void;
  readonly current: ReadonlyMap<number, PortClash>;
  /** Clashes that are new since the last call. */
  take(): ReadonlyMap<number, PortClash>;
}

export function createPortClashes(): PortClashes {
  const nodePorts = new Map<number, ServiceKey>();
  const healthPorts = new Map<number, ServiceKey>();
  const current = new Map<number, PortClash>();
  let fresh = new Map<number, PortClash>();

  const set = (map: Map<number, ServiceKey>, port: number, service: ServiceKey | undefined): void => {
    if (service === undefined) map.delete(port);
    else map.set(port, service);
    const nodePortOf = nodePorts.get(port);
    const healthPortOf = healthPorts.get(port);
    const before = current.get(port);
    if (nodePortOf === undefined || healthPortOf === undefined) {
      current.delete(port);
      fresh.delete(port);
    } else if (before?.nodePortOf !== nodePortOf || before.healthPortOf !== healthPortOf) {
      const clash: PortClash = { nodePortOf, healthPortOf };
      current.set(port, clash);
      fresh.set(port, clash);
    }
  };
  return {
    nodePort: (port, service) => set(nodePorts, port, service),
    healthPort: (port, service) => set(healthPorts, port, service),
    current,
    take() {
      const taken = fresh;
      fresh = new Map();
      return taken;
    },
  };
}
