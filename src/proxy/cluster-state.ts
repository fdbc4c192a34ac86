// The proxy's book of the cluster: objects in, changes of the ForwardingTable out. What an event does not touch is
// not looked at.
import { createSlicer } from '../base/slicer.ts';
import type { Family } from '../model/address.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { Node } from '../model/node.ts';
import { type Service, type ServiceKey, serviceKey } from '../model/service.ts';
import { endpointText, type FrontendKey, frontendKey } from '../model/service-port.ts';
import type { Entry, ForwardingTable, TableChange } from '../plan/forwarding-table.ts';
import { mergeSlices } from '../plan/merge-slices.ts';
import { type PlanFacts, planService } from '../plan/plan-service.ts';
import { sameEntry, sameSettings } from '../plan/same-entry.ts';
import type { FrontendFlows } from '../plan/stale-flows.ts';
import { type Clash, createClaims } from './claims.ts';
import { createHealthPorts, type HealthPort } from './health-ports.ts';
import { createNoLocal, type NoLocalCounts } from './no-local.ts';
import { createPortClashes, type PortClash } from './port-clashes.ts';

/** What `take` found to commit, and what it came from. */
export interface Taken {
  readonly change: TableChange;
  /** Trigger times (ms since 1970) of the slices set since the last take, for the programming latency. */
  readonly triggers: readonly number[];
  /** Services and slices that changed since the last take. */
  readonly services: number;
  readonly slices: number;
}

export interface ClusterState {
  /** Sets or, with undefined, removes a Service; the key is `namespace/name`. */
  setService(key: ServiceKey, service: Service | undefined): void;
  /** Sets or removes an EndpointSlice; the key is the slice's own `namespace/name`. */
  setSlice(key: string, slice: EndpointSlice | undefined): void;
  setNode(node: Node | undefined): void;
  setSettings(settings: ForwardingTable['settings']): void;
  /** The desired state as of the last `take`. */
  readonly table: ForwardingTable;
  /** Something changed since the last `take`, or was given back. */
  readonly dirty: boolean;
  /** Plans what changed, in slices of a few ms, and says what differs. Not to be called while one is running. */
  take(): Promise<Taken>;
  /** Gives back a change that was not committed: its keys are part of the next `take`. */
  putBack(change: TableChange): void;
  /**
   * Frontends whose tracked connections may have lost their endpoint, since the last call: all of a Service that
   * changed, for TCP only those from whose lists an endpoint left. To be called once a sync has gone through.
   */
  takeTouched(): ReadonlySet<FrontendKey>;
  /** Health check node ports that changed since the last call. To be called once a sync has gone through. */
  takeHealthPorts(): readonly HealthPort[];
  /** What may keep flows to a frontend, as of now. */
  flowsOf(key: FrontendKey): FrontendFlows;
  /** Frontends that two Services claim: the older Service has it, the other is named here. */
  readonly clashes: ReadonlyMap<FrontendKey, Clash>;
  /** Node ports that are another Service's health check node port. */
  readonly portClashes: ReadonlyMap<number, PortClash>;
  /** What of both began, changed or ended since the last call. To be called once a sync has gone through. */
  takeClashes(): {
    readonly frontends: ReadonlyMap<FrontendKey, Clash | undefined>;
    readonly ports: ReadonlyMap<number, PortClash>;
  };
  /** Service ports that keep traffic on the node and have no endpoint there. */
  readonly noLocal: NoLocalCounts;
  /** Objects held. */
  readonly counts: { readonly services: number; readonly slices: number; readonly endpoints: number };
  /** The Service and its slices as last set. */
  service(key: ServiceKey): {
    readonly service: Service | undefined;
    readonly slices: readonly EndpointSlice[];
  };
}

export interface ClusterStateOptions {
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly settings: ForwardingTable['settings'];
}

const NO_SLICES: ReadonlyMap<string, EndpointSlice> = new Map();

export function createClusterState({ nodeName, families, settings }: ClusterStateOptions): ClusterState {
  const services = new Map<ServiceKey, Service>();
  const slicesOf = new Map<ServiceKey, Map<string, EndpointSlice>>();
  const serviceOfSlice = new Map<string, ServiceKey>();
  const planned = new Map<ServiceKey, readonly FrontendKey[]>();
  const claims = createClaims();
  const portClashes = createPortClashes();
  const healthPorts = createHealthPorts(nodeName, families, portClashes);
  const noLocal = createNoLocal();
  const entries = new Map<FrontendKey, Entry>();
  const dirty = new Set<ServiceKey>();
  const givenBack = new Set<FrontendKey>();
  let touched = new Set<FrontendKey>();
  let facts: PlanFacts = { nodeName, zone: '', nodeAddresses: [] };
  let current = settings;
  let settingsChanged = false;
  let triggers: number[] = [];
  const changed = { services: new Set<ServiceKey>(), slices: new Set<string>() };
  let endpoints = 0;

  const dropSlice = (key: string): void => {
    const service = serviceOfSlice.get(key);
    if (service === undefined) return;
    const slices = slicesOf.get(service);
    endpoints -= slices?.get(key)?.endpoints.length ?? 0;
    slices?.delete(key);
    if (slices?.size === 0) slicesOf.delete(service);
    serviceOfSlice.delete(key);
    dirty.add(service);
  };

  /** Plans one Service anew and notes every frontend whose entry differs. */
  const replan = (key: ServiceKey, differing: Set<FrontendKey>): void => {
    const service = services.get(key);
    healthPorts.set(key, service, [...(slicesOf.get(key) ?? NO_SLICES).values()]);
    const fresh = new Map<FrontendKey, Entry>();
    if (service !== undefined) {
      for (const entry of planService(
        service,
        [...(slicesOf.get(key) ?? NO_SLICES).values()],
        families,
        facts,
      )) {
        const frontend = frontendKey(entry.frontend);
        if (!fresh.has(frontend)) fresh.set(frontend, entry);
      }
    }
    for (const frontend of planned.get(key) ?? []) {
      if (!fresh.has(frontend)) settle(frontend, claims.drop(frontend, key), differing);
    }
    for (const [frontend, entry] of fresh) {
      settle(
        frontend,
        claims.claim(frontend, { service: key, createdAt: service?.createdAt ?? 0, entry }),
        differing,
      );
    }
    // Connectionless flows live as long as clients send: also those to an endpoint that only stopped serving must end.
    for (const frontend of [...(planned.get(key) ?? []), ...fresh.keys()]) {
      if (!frontend.includes('/TCP/')) touched.add(frontend);
    }
    noLocal.set(key, [...fresh.values()]);
    if (fresh.size === 0) planned.delete(key);
    else planned.set(key, [...fresh.keys()]);
  };

  const settle = (key: FrontendKey, entry: Entry | undefined, differing: Set<FrontendKey>): void => {
    const before = entries.get(key);
    if (before === entry || (before !== undefined && entry !== undefined && sameEntry(before, entry))) return;
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
    const { frontend } = entry ?? before ?? {};
    if (frontend?.kind === 'node-port' && frontend.protocol === 'TCP') {
      const family = frontend.family === 'IPv4' ? 'IPv6' : 'IPv4';
      const holder = (entry ?? entries.get(frontendKey({ ...frontend, family })))?.servicePort;
      portClashes.nodePort(frontend.port, holder && serviceKey(holder.namespace, holder.name));
    }
    if (before !== undefined && losesEndpoint(before, entry)) touched.add(key);
    differing.add(key);
  };

  return {
    setService(key, service) {
      if (service === undefined) {
        if (!services.delete(key)) return;
      } else services.set(key, service);
      dirty.add(key);
      changed.services.add(key);
    },
    setSlice(key, slice) {
      if (slice === undefined && !serviceOfSlice.has(key)) return;
      // A slice relabelled to another Service leaves its old one (behaviour spec S158: upstream forgets that).
      dropSlice(key);
      changed.slices.add(key);
      if (slice === undefined) return;
      const slices = slicesOf.get(slice.service) ?? new Map<string, EndpointSlice>();
      slices.set(key, slice);
      slicesOf.set(slice.service, slices);
      serviceOfSlice.set(key, slice.service);
      endpoints += slice.endpoints.length;
      dirty.add(slice.service);
      if (slice.triggeredAt > 0) triggers.push(slice.triggeredAt);
    },
    setNode(node) {
      const next: PlanFacts = { nodeName, zone: node?.zone ?? '', nodeAddresses: node?.addresses ?? [] };
      const same = next.zone === facts.zone && next.nodeAddresses.join() === facts.nodeAddresses.join();
      facts = next;
      if (!same) for (const key of services.keys()) dirty.add(key);
    },
    setSettings(next) {
      if (sameSettings(current, next)) return;
      current = next;
      settingsChanged = true;
    },
    get table() {
      return { settings: current, entries };
    },
    get dirty() {
      return dirty.size > 0 || givenBack.size > 0 || settingsChanged;
    },
    async take() {
      const differing = new Set(givenBack);
      givenBack.clear();
      const slicer = createSlicer();
      for (const key of dirty) {
        dirty.delete(key);
        replan(key, differing);
        const pause = slicer.turn();
        if (pause !== undefined) await pause;
      }
      const taken: Taken = {
        change: {
          ...(settingsChanged ? { settings: current } : {}),
          entries: new Map([...differing].map((key) => [key, entries.get(key)])),
        },
        triggers,
        services: changed.services.size,
        slices: changed.slices.size,
      };
      settingsChanged = false;
      triggers = [];
      changed.services.clear();
      changed.slices.clear();
      return taken;
    },
    putBack(change) {
      for (const key of change.entries.keys()) givenBack.add(key);
      if (change.settings !== undefined) settingsChanged = true;
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    takeHealthPorts() {
      return healthPorts.take();
    },
    flowsOf(key) {
      const entry = entries.get(key);
      if (entry === undefined) return { kind: 'gone' };
      const { namespace, name, family, portName, protocol } = entry.servicePort;
      const slices = [...(slicesOf.get(serviceKey(namespace, name)) ?? NO_SLICES).values()];
      const serving = mergeSlices(slices, family, portName, protocol).filter(({ traits }) => traits.serving);
      return { kind: 'served', serving: new Set(serving.map(({ text }) => text)) };
    },
    get clashes() {
      return claims.clashes;
    },
    portClashes: portClashes.current,
    takeClashes() {
      return { frontends: claims.takeChanged(), ports: portClashes.take() };
    },
    get noLocal() {
      return noLocal.counts;
    },
    get counts() {
      return { services: services.size, slices: serviceOfSlice.size, endpoints };
    },
    service(key) {
      return { service: services.get(key), slices: [...(slicesOf.get(key) ?? NO_SLICES).values()] };
    },
  };
}

/** Whether a new connection could go to an endpoint before that it can not go to now. */
function losesEndpoint(before: Entry, after: Entry | undefined): boolean {
  const left = new Set(endpointsOf(after));
  return endpointsOf(before).some((text) => !left.has(text));
}

function endpointsOf(entry: Entry | undefined): readonly string[] {
  const route = entry?.route;
  if (route?.kind === 'balance') return route.endpoints.map(endpointText);
  return route?.kind === 'by-source' ? [...route.all, ...route.local].map(endpointText) : [];
}
