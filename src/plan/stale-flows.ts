// Which tracked connections stick to an endpoint that is gone. The kernel looks a connection's target up once; a client
// that keeps its source port would meet the dead endpoint for as long as it sends (behaviour spec 5; KEP-3866).
import { type Address, familyOf } from '../model/address.ts';
import type { Protocol } from '../model/service.ts';
import { endpointText, type FrontendKey, frontendKey } from '../model/service-port.ts';

/** A tracked connection, as far as it matters here. */
export interface SeenFlow {
  readonly protocol: Protocol;
  /** Where the client sent to. */
  readonly destination: Address;
  readonly port: number;
  /** Who answers it, after translation. */
  readonly server: Address;
  readonly serverPort: number;
  /** There was an answer. */
  readonly answered: boolean;
}

/** What is known of a frontend whose flows are looked at. */
export type FrontendFlows =
  /** `serving` are the endpoints, as `address:port`, that may keep flows: policy, hints and readiness do not matter. */
  | { readonly kind: 'served'; readonly serving: ReadonlySet<string> }
  /** No Service has it any more. */
  | { readonly kind: 'gone' };

export interface FlowScope {
  readonly frontends: ReadonlyMap<FrontendKey, FrontendFlows>;
  isNodeAddress(address: Address): boolean;
}

/**
 * Whether a flow must be ended. Flows to endpoints that still serve never are, nor are established TCP connections:
 * those end with their endpoint. Of TCP only attempts that nobody answered are, since each retry would renew them.
 * Flows to a frontend that were never translated (they began before there was a rule) are ended too.
 */
export function isStale(flow: SeenFlow, scope: FlowScope): boolean {
  if (flow.protocol === 'TCP' && flow.answered) return false;
  const translated = flow.server !== flow.destination || flow.serverPort !== flow.port;
  const frontend = frontendOf(flow, translated, scope);
  if (frontend === undefined) return false;
  if (!translated) return frontend.kind === 'served';
  return (
    frontend.kind === 'gone' ||
    !frontend.serving.has(endpointText({ address: flow.server, port: flow.serverPort }))
  );
}

/** A node port counts at the node's own addresses, or where translation shows that it did. */
function frontendOf(flow: SeenFlow, translated: boolean, scope: FlowScope): FrontendFlows | undefined {
  const { destination: address, protocol, port } = flow;
  const family = familyOf(address);
  const direct = scope.frontends.get(frontendKey({ kind: 'cluster-ip', family, address, protocol, port }));
  if (direct !== undefined) return direct;
  if (!translated && !scope.isNodeAddress(address)) return undefined;
  return scope.frontends.get(frontendKey({ kind: 'node-port', family, protocol, port }));
}
