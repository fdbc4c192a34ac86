// Who has a frontend when several Services claim it: the older one, as the cluster's users saw it first.
import type { ServiceKey } from '../model/service.ts';
import type { FrontendKey } from '../model/service-port.ts';
import type { Entry } from '../plan/forwarding-table.ts';

export interface Claim {
  readonly service: ServiceKey;
  /** Creation of the Service, ms since 1970. */
  readonly createdAt: number;
  readonly entry: Entry;
}

/** A frontend with more than one claim. */
export interface Clash {
  readonly holder: ServiceKey;
  readonly others: readonly ServiceKey[];
}

export interface Claims {
  /** Enters or renews the claim of a Service; returns the entry that now holds the frontend. */
  claim(key: FrontendKey, claim: Claim): Entry;
  /** Withdraws the claim of a Service; returns the entry that now holds the frontend, if any. */
  drop(key: FrontendKey, service: ServiceKey): Entry | undefined;
  readonly clashes: ReadonlyMap<FrontendKey, Clash>;
  /** Frontends whose clash began, changed or ended since the last call, with what it is now. */
  takeChanged(): ReadonlyMap<FrontendKey, Clash | undefined>;
}

export function createClaims(): Claims {
  const claimsOf = new Map<FrontendKey, readonly Claim[]>();
  const clashes = new Map<FrontendKey, Clash>();
  let changed = new Map<FrontendKey, Clash | undefined>();

  const store = (key: FrontendKey, claims: readonly Claim[]): Entry | undefined => {
    const [holder, ...others] = claims;
    if (holder === undefined) claimsOf.delete(key);
    else claimsOf.set(key, claims);
    if (holder !== undefined && others.length > 0) {
      const clash: Clash = { holder: holder.service, others: others.map(({ service }) => service) };
      const before = clashes.get(key);
      if (before?.holder !== clash.holder || before.others.join() !== clash.others.join())
        changed.set(key, clash);
      clashes.set(key, clash);
    } else if (clashes.delete(key)) changed.set(key, undefined);
    return holder?.entry;
  };
  const without = (key: FrontendKey, service: ServiceKey): readonly Claim[] =>
    (claimsOf.get(key) ?? []).filter((claim) => claim.service !== service);

  return {
    claim(key, claim) {
      const others = without(key, claim.service);
      if (others.length === 0) return store(key, [claim]) ?? claim.entry;
      return store(key, [...others, claim].sort(olderFirst)) ?? claim.entry;
    },
    drop(key, service) {
      return store(key, without(key, service));
    },
    clashes,
    takeChanged() {
      const taken = changed;
      changed = new Map();
      return taken;
    },
  };
}

/** The name decides between Services of the same second, so that every node comes to the same answer. */
function olderFirst(a: Claim, b: Claim): number {
  return a.createdAt - b.createdAt || (a.service < b.service ? -1 : 1);
}
