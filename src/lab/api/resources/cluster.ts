// What resources share while they are written: the store, the ranges of Services, the clock.
import type { Cidr } from '../../../model/address.ts';
import type { Store } from '../store/store.ts';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface Cluster {
  readonly store: Store;
  /** The Services' address ranges, primary family first; at most one per family. */
  readonly serviceCidrs: readonly Cidr[];
  readonly nodePorts: PortRange;
  /** Which Service holds a node port: port → `namespace/name`. A port belongs to one Service for all protocols. */
  readonly takenNodePorts: Map<number, string>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
}
