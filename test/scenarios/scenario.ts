// The format of the scenario tables: a cluster, packets, and what becomes of them.
import type { Family } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/decode.ts';
import type { Protocol } from '../../src/model/service.ts';

/** The stage: see `stage.ts` for the addresses behind the names. */
export type Sender = 'P' | 'n1' | 'X' | 'B' | 'EL' | 'R';

/**
 * What the detector and masqueradeAll are set to. `base` is detectLocalMode ClusterCIDR with 10.50.0.0/16,
 * `node-cidr` takes this node's 10.50.1.0/24, `none` has no detector.
 */
export type SettingsName = 'base' | 'none' | 'masquerade-all' | 'node-cidr';

/**
 * One packet of a new connection, in a line: `SENDER -> TARGET : OUTCOME`.
 *
 * TARGET is `SA` (ClusterIP and port of Service SA), `SA.node` (192.0.2.11 and its node port), `SA.vip`, `SA.vip2`,
 * `SA.ext` (load-balancer and external IP), or an address with port; a port may be put after any: `SA:9999`.
 * OUTCOME is the endpoints that answer, each of which must, by name, then `M` when they see a node address in place of
 * the client's, or `-` when they see the client's; or `refused`, `silence` (dropped), or `untouched` (no rule applies).
 */
export type PacketLine = string;

/** Those that have differences. */
export type DataPath = 'iptables';
/** In both families, or in one. */
export type OtherOutcome = string | Readonly<Partial<Record<Family, string>>>;

export interface Scenario {
  /** Numbers of the specification's rows that this proves: `S188`, or several. */
  readonly id: string;
  readonly title: string;
  readonly settings?: SettingsName;
  /** Services by name; each has a TCP, a UDP and an SCTP port of the same number unless it lists ports itself. */
  readonly services: Readonly<Record<string, ServiceGiven>>;
  readonly packets: readonly PacketLine[];
  /** Changes to make after the packets, each followed by its own packets. */
  readonly steps?: readonly Step[];
  /** Node port addresses, where not all that are not loopback. */
  readonly nodePortAddresses?: readonly string[];
  /** ServiceCIDRs, where an unallocated address matters. */
  readonly serviceCidrs?: readonly string[];
  /** Every scenario runs over IPv6 as well, with the counterparts of `family.ts`; this says why one cannot. */
  readonly ipv4Only?: string;
  /**
   * Where a data path differs from nftables mode, as upstream's does: what becomes of a packet instead, by what stands
   * before the colon.
   */
  readonly differs?: Readonly<Record<DataPath, Readonly<Record<string, OtherOutcome>>>>;
  /** Where not all protocols matter. By packets SCTP runs only where the kernel has it. */
  readonly protocols?: readonly Protocol[];
}

export interface Step {
  readonly title: string;
  /** Services that are new or differ; null for one that goes. */
  readonly services: Readonly<Record<string, ServiceGiven | null>>;
  readonly packets: readonly PacketLine[];
}

export interface ServiceGiven {
  readonly clusterIP: string;
  readonly port: number;
  readonly nodePort?: number;
  readonly vips?: readonly JsonObject[] | readonly string[];
  readonly externalIPs?: readonly string[];
  /** Further spec fields: policies, affinity, ranges, type, ports… */
  readonly spec?: JsonObject;
  /**
   * Endpoints by name, with marks: `EL`, `ER!` (terminating, serving), `a-` (not ready), `c~` (ready and terminating),
   * and hints `a:za,zb@n1`.
   */
  readonly endpoints: string;
  /** Whole slices in place of `endpoints`, for what that notation cannot say. */
  readonly slices?: readonly JsonObject[];
  /** metadata.creationTimestamp, where it decides. */
  readonly created?: string;
}
