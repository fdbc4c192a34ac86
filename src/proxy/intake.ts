// From watch events to the cluster's state: what cannot be used is set aside by name, the rest goes on.
import type { Logger } from '../base/log.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { Change } from '../kube/object-feed.ts';
import { type Address, type Cidr, cidrText } from '../model/address.ts';
import type { Decoded } from '../model/decode.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { Node } from '../model/node.ts';
import type { Service } from '../model/service.ts';
import { cidrUnion } from '../model/service-cidr.ts';
import type { Health } from '../observe/health.ts';
import type { UpstreamMetrics } from '../observe/upstream-metrics.ts';
import type { ClusterState } from './cluster-state.ts';
import type { PendingChanges } from './pending-changes.ts';
import type { Quarantine } from './quarantine.ts';
import { type SettingsConfig, tableSettings } from './table-settings.ts';

export interface IntakeOptions {
  readonly config: SettingsConfig & Pick<ProxyConfig, 'externalIps'>;
  readonly state: Pick<ClusterState, 'setService' | 'setSlice' | 'setNode' | 'setSettings' | 'dirty'>;
  readonly pending: PendingChanges;
  readonly quarantine: Quarantine;
  readonly health: Pick<Health, 'setNode'>;
  readonly metrics: Pick<UpstreamMetrics, 'serviceChanged' | 'sliceChanged' | 'pending'>;
  /** Wakes the sync loop. */
  readonly changed: () => void;
  /** When this process began, in ms since 1970: older triggers say nothing about its latency. */
  readonly startedAt: number;
  readonly log: Logger;
}

/** Takers of watch events, one a resource. */
export interface Intake {
  service(change: Change<Decoded<Service>>): void;
  slice(change: Change<Decoded<EndpointSlice>>): void;
  node(change: Change<Node>): void;
  serviceCidr(change: Change<readonly Cidr[]>): void;
  /** The addresses of this machine's interfaces, where they matter. */
  localAddresses(addresses: readonly Address[]): void;
  /** The own Node as last seen; what was known of a deleted one goes on to hold. */
  readonly ownNode: Node | undefined;
}

export function createIntake(options: IntakeOptions): Intake {
  const { config, state, pending, quarantine, health, metrics, changed, startedAt, log } = options;
  const serviceCidrs = new Map<string, readonly Cidr[]>();
  let node: Node | undefined;
  let addresses: string | undefined;
  let podCidrs: string | undefined;
  let localAddresses: readonly Address[] = [];

  /** The usable part of an object; what is not usable is set aside, or let go when all is well. */
  function sift<T>(resource: string, change: Change<Decoded<T>>): T | undefined {
    const key = `${resource} ${change.key}`;
    const problems = change.kind === 'set' ? change.value.problems : [];
    if (problems.length === 0) quarantine.release('object', key);
    else {
      const reasons = problems.map(({ field, because }) => `${field} ${because}`.trim());
      quarantine.hold('object', key, reasons.join('; '));
    }
    return change.kind === 'set' && change.value.kind === 'decoded' ? change.value.value : undefined;
  }

  /** A Node changes with each heartbeat: only what matters to traffic asks for a sync. */
  function settle(): void {
    const facts = { node, serviceCidrs: cidrUnion([...serviceCidrs.values()].flat()), localAddresses };
    state.setSettings(tableSettings(config, facts));
    if (state.dirty) changed();
  }

  function queue(): void {
    metrics.pending(pending.counts);
    changed();
  }

  return {
    service(change) {
      const service = sift('services', change);
      // Feature gate AllowServiceExternalIPs (behaviour spec 1.7).
      state.setService(
        change.key,
        service === undefined || config.externalIps ? service : { ...service, externalIPs: [] },
      );
      pending.service(change.key);
      metrics.serviceChanged();
      queue();
    },
    slice(change) {
      const slice = sift('endpointslices', change);
      state.setSlice(change.key, slice);
      const triggered = slice !== undefined && slice.triggeredAt >= startedAt;
      pending.slice(change.key, triggered ? { family: slice.family, at: slice.triggeredAt } : undefined);
      metrics.sliceChanged();
      queue();
    },
    node(change) {
      if (change.kind === 'delete') {
        // What was known of it goes on to hold (behaviour spec 1.6); only health tells.
        log.warn('Node is being deleted', { node: change.key });
        health.setNode(undefined);
        return;
      }
      node = change.value;
      const seen = node.addresses.join(', ');
      if (addresses === undefined) log.info('Successfully retrieved NodeIPs', { NodeIPs: node.addresses });
      else if (addresses !== seen)
        log.warn('NodeIPs changed for the node', { was: addresses, NodeIPs: node.addresses });
      addresses = seen;
      const ranges = node.podCidrs.map(cidrText).join(', ');
      // Upstream ends here, to start anew with them; here the rules follow.
      if (config.localDetection.kind === 'node-cidr' && podCidrs !== undefined && podCidrs !== ranges)
        log.warn('PodCIDRs changed for the node', { was: podCidrs, podCIDRs: ranges });
      podCidrs = ranges;
      health.setNode(node);
      state.setNode(node);
      settle();
    },
    serviceCidr(change) {
      if (change.kind === 'set') serviceCidrs.set(change.key, change.value);
      else serviceCidrs.delete(change.key);
      settle();
    },
    localAddresses(seen) {
      localAddresses = seen;
      settle();
    },
    get ownNode() {
      return node;
    },
  };
}
