// What the data path must do, in no data path's own terms. Backends commit it; explain and verify read the same table.
import type { Cidr } from '../model/address.ts';
import type { Endpoint, Frontend, FrontendKey, ServicePort } from '../model/service-port.ts';

/** What the first packet of a connection to a frontend gets. `because` is what explain, logs and events print. */
export type Route =
  /** Any of these endpoints, at random. Never empty. `from`: the list is cluster-wide, or this node's only. */
  | {
      readonly kind: 'balance';
      readonly endpoints: readonly Endpoint[];
      readonly from: 'cluster' | 'node';
      readonly because: string;
    }
  /**
   * externalTrafficPolicy Local: this node's pods and the node itself may use `all` (never empty); everyone else only
   * `local`, and is dropped when that is empty.
   */
  | {
      readonly kind: 'by-source';
      readonly all: readonly Endpoint[];
      readonly local: readonly Endpoint[];
      readonly because: string;
    }
  | { readonly kind: 'reject' | 'drop'; readonly because: string };

/**
 * Whose source address is replaced by the node's, beside hairpin connections, which always are.
 * `unless-pod`: of clients that are no local pods as the detector tells (with masqueradeAll: of all; without detector:
 * of none). `always`: of all. `own`: of the node itself.
 */
export type Masquerade = 'unless-pod' | 'always' | 'own';

/** What becomes of packets to one frontend. */
export interface Entry {
  readonly frontend: Frontend;
  readonly servicePort: ServicePort;
  readonly route: Route;
  /** ClientIP affinity in seconds, 0 for none. */
  readonly affinitySeconds: number;
  readonly masquerade: Masquerade;
  /** Only these sources may come in, others are dropped; undefined: everyone. None contains another. */
  readonly allowedSources: readonly Cidr[] | undefined;
  /** Of the Service, on its ClusterIP's entry, for data paths that must let health checks in; absent for none. */
  readonly healthCheckNodePort?: number;
}

/** How local pods are told from everyone else, for one family (behaviour spec 3.3, Detector). */
export type LocalDetector =
  | { readonly kind: 'none' }
  | { readonly kind: 'cidr'; readonly cidr: Cidr }
  | { readonly kind: 'interface'; readonly name: string }
  | { readonly kind: 'interface-prefix'; readonly prefix: string };

/** What holds for all entries of one family. */
export interface TableSettings {
  readonly masqueradeAll: boolean;
  readonly localDetector: LocalDetector;
  /** ServiceCIDRs: an address in them that no Service has is dropped. */
  readonly serviceCidrs: readonly Cidr[];
  /** Which of the node's addresses serve node ports; `all` leaves out loopback. */
  readonly nodePortAddresses: 'all' | readonly string[];
}

/** The whole desired state: equal tables are deep-equal, whatever order of events led to them. */
export interface ForwardingTable {
  readonly settings: Readonly<Record<'IPv4' | 'IPv6', TableSettings>>;
  readonly entries: ReadonlyMap<FrontendKey, Entry>;
}

/** What a sync has to commit. Its size drives all costs. */
export interface TableChange {
  /** Present when the settings differ from the last committed ones. */
  readonly settings?: ForwardingTable['settings'];
  /** New and differing entries, and `undefined` for those that are gone. */
  readonly entries: ReadonlyMap<FrontendKey, Entry | undefined>;
}
