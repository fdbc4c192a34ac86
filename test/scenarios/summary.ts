// What a run has shown, in numbers: nothing is left out without being told.
import { familiesOf } from './family.ts';
import type { Scenario } from './scenario.ts';

/** Lines for people: how many rows of the tables were sent as packets, and what was not, with the reason. */
export function summaryOf(mode: string, scenarios: readonly Scenario[], sctp: boolean): readonly string[] {
  const ids = new Set(
    scenarios.flatMap(({ id }) => id.split(' ').filter((word) => /^[SB]\d{3}$/.test(word))),
  );
  const runs = scenarios.reduce((sum, one) => sum + familiesOf(one).length, 0);
  const single = scenarios.filter(({ ipv4Only }) => ipv4Only !== undefined);
  return [
    `${mode}: ${scenarios.length} scenarios (${ids.size} numbers of the catalogue) by packets in ${runs} runs over IPv4 and IPv6; by plan only: 0`,
    ...single.map(({ id, ipv4Only }) => `${id}: IPv4 only: ${ipv4Only}`),
    ...(sctp ? [] : ['SCTP: by plan only, since this kernel has none (npm run scenarios:sctp)']),
  ];
}
