// The feature gates that kube-proxy reads (behaviour spec 1.7): which there are, and what is in force.
import { nearest } from './nearest.ts';

interface Gate {
  readonly standard: boolean;
  /** It cannot be changed any more. */
  readonly locked?: true;
}

const GATES: Readonly<Record<string, Gate>> = {
  AllowServiceExternalIPs: { standard: true },
  ComponentFlagz: { standard: true },
  ComponentStatusz: { standard: true },
  ContextualLogging: { standard: true },
  LoggingAlphaOptions: { standard: false },
  LoggingBetaOptions: { standard: true },
  MultiCIDRServiceAllocator: { standard: true, locked: true },
  NFTablesProxyMode: { standard: true, locked: true },
  NativeHistograms: { standard: false },
  PreferSameTrafficDistribution: { standard: true, locked: true },
};

/** Groups: they stand for all gates of a stage, and are taken without effect beyond the two named. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  AllAlpha: ['LoggingAlphaOptions', 'NativeHistograms'],
  AllBeta: ['ComponentFlagz', 'ComponentStatusz', 'LoggingBetaOptions'],
};

/** What is wrong with gates as given; the words are upstream's. */
export function gateProblems(given: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const gate = GATES[name];
    if (gate === undefined) {
      if (name in GROUPS) return [];
      const meant = nearest(name, Object.keys(GATES));
      return [`unrecognized feature gate: ${name}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`];
    }
    return gate.locked === true && value !== gate.standard
      ? [`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.standard}`]
      : [];
  });
}

/** Whether a gate is on. */
export function gateOn(given: Readonly<Record<string, boolean>>, name: string): boolean {
  const own = given[name];
  if (own !== undefined) return own;
  const group = Object.entries(GROUPS).find(([, names]) => names.includes(name));
  const grouped = group === undefined ? undefined : given[group[0]];
  return grouped ?? GATES[name]?.standard ?? false;
}

/** Every gate with what is in force, by name. */
export function gatesInForce(
  given: Readonly<Record<string, boolean>>,
): readonly { readonly name: string; readonly on: boolean }[] {
  return Object.keys(GATES).map((name) => ({ name, on: gateOn(given, name) }));
}
