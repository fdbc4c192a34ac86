// The claims of a Service on node ports, the health check's included.
import { keyOf } from '../../api-object.ts';
import { type FieldError, invalidValue } from '../../field-error.ts';
import { withFields } from '../../json.ts';
import type { Cluster, PortRange } from '../cluster.ts';
import {
  mayHaveNodePort,
  needsHealthCheckPort,
  needsNodePort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './types.ts';

export type Ports =
  | { readonly ok: true; readonly spec: ServiceSpec; settle(): void }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

function heldPorts(service: Service | undefined): readonly number[] {
  if (service === undefined) return [];
  const { spec } = service;
  const ports = mayHaveNodePort(spec) ? (spec.ports ?? []).flatMap(({ nodePort }) => nodePort ?? []) : [];
  const check = needsHealthCheckPort(spec) ? spec.healthCheckNodePort : undefined;
  return [...new Set([...ports, ...(check === undefined ? [] : [check])])];
}

const ownerOf = ({ metadata }: Service): string => keyOf(metadata.namespace, metadata.name ?? '');

/** Chooses or checks node ports; nothing is taken before `settle`. */
export function reservePorts(service: Service, before: Service | undefined, cluster: Cluster): Ports {
  const held = heldPorts(before);
  // Ports that this Service holds already, and those claimed so far by this very write.
  const mine = new Set(held);
  const errors: FieldError[] = [];
  const isTaken = (port: number): boolean => cluster.takenNodePorts.has(port) || mine.has(port);

  const claim = (port: number, field: string): void => {
    if (held.includes(port)) return;
    const { first, last } = cluster.nodePorts;
    if (port < first || port > last)
      errors.push(
        invalidValue(
          field,
          port,
          `provided port is not in the valid range. The range of valid ports is ${first}-${last}`,
        ),
      );
    else if (isTaken(port)) errors.push(invalidValue(field, port, 'provided port is already allocated'));
    else mine.add(port);
  };
  const choose = (field: string): number | undefined => {
    const port = freePort(cluster.nodePorts, isTaken, () => cluster.random());
    if (port === undefined)
      errors.push(invalidValue(field, 0, 'failed to allocate a nodePort: range is full'));
    else mine.add(port);
    return port;
  };

  const spec = claimAll(service.spec, claim, choose);
  if (errors.length > 0) return { ok: false, errors };
  return {
    ok: true,
    spec,
    settle() {
      const now = new Set(heldPorts(withFields(service, { spec })));
      for (const port of held) if (!now.has(port)) cluster.takenNodePorts.delete(port);
      for (const port of now) cluster.takenNodePorts.set(port, ownerOf(service));
    },
  };
}

function claimAll(
  spec: ServiceSpec,
  claim: (port: number, field: string) => void,
  choose: (field: string) => number | undefined,
): ServiceSpec {
  // One Service port in several protocols shares a node port.
  const byPort = new Map<number, number>();
  const explicit = (port: ServicePort, at: number): void => {
    if (port.nodePort === undefined || !mayHaveNodePort(spec) || byPort.get(port.port) === port.nodePort)
      return;
    claim(port.nodePort, `spec.ports[${at}].nodePort`);
    byPort.set(port.port, port.nodePort);
  };
  spec.ports?.forEach(explicit);
  const ports = spec.ports?.map((port, at) => {
    if (port.nodePort !== undefined || !needsNodePort(spec)) return port;
    const nodePort = byPort.get(port.port) ?? choose(`spec.ports[${at}].nodePort`);
    if (nodePort === undefined) return port;
    byPort.set(port.port, nodePort);
    return withFields(port, { nodePort });
  });
  let healthCheckNodePort = spec.healthCheckNodePort;
  if (needsHealthCheckPort(spec)) {
    if (healthCheckNodePort === undefined) healthCheckNodePort = choose('spec.healthCheckNodePort');
    else claim(healthCheckNodePort, 'spec.healthCheckNodePort');
  }
  return withFields(spec, { ports, healthCheckNodePort });
}

/** A random port of the upper band, else the first of the lower one, which is for those who choose (KEP-3668). */
function freePort(
  { first, last }: PortRange,
  isTaken: (port: number) => boolean,
  random: () => number,
): number | undefined {
  const size = last - first + 1;
  const band = size < 32 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  const upper = size - band;
  const start = Math.floor(random() * upper);
  for (let step = 0; step < upper; step += 1) {
    const port = first + band + ((start + step) % upper);
    if (!isTaken(port)) return port;
  }
  for (let port = first; port < first + band; port += 1) if (!isTaken(port)) return port;
  return undefined;
}

/** Gives back all node ports of a Service that is gone. */
export function releasePorts(service: Service, cluster: Cluster): void {
  for (const port of heldPorts(service)) cluster.takenNodePorts.delete(port);
}
