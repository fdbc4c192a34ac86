// The scenarios of the specification that speak of packets. Read `scenario.ts` for the notation.
import type { Scenario } from './scenario.ts';
import { choice } from './tables/choice.ts';
import { fewEndpoints } from './tables/few-endpoints.ts';
import { flows } from './tables/flows.ts';
import { lifecycles } from './tables/lifecycles.ts';
import { loadBalancers } from './tables/load-balancers.ts';
import { nodePorts } from './tables/node-ports.ts';
import { objects } from './tables/objects.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...flows,
  ...fewEndpoints,
  ...choice,
  ...loadBalancers,
  ...nodePorts,
  ...lifecycles,
  ...objects,
];
