// Every scenario of the tables by real packets, over both families, in every mode that exists.
import { after, test } from 'node:test';
import { familiesOf } from '../scenarios/family.ts';
import { MODES } from '../scenarios/modes.ts';
import { createScenarioRunner, hasSctp } from '../scenarios/packet-runner.ts';
import { summaryOf } from '../scenarios/summary.ts';
import { SCENARIOS } from '../scenarios/tables.ts';

for (const [mode, open] of Object.entries(MODES)) {
  const runner = await createScenarioRunner(mode, open, SCENARIOS);
  after(() => runner[Symbol.asyncDispose]());
  for (const scenario of SCENARIOS) {
    for (const family of familiesOf(scenario))
      test(`${mode}: ${family}: ${scenario.id}: ${scenario.title}`, () => runner.run(scenario, family));
  }
  test(`${mode}: what was sent as packets and what was not is told`, (t) => {
    for (const line of summaryOf(mode, SCENARIOS, hasSctp())) t.diagnostic(line);
  });
}
