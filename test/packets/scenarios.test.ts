// Every scenario of the tables by real packets, in every mode that exists.
import { after, test } from 'node:test';
import { MODES } from '../scenarios/modes.ts';
import { createScenarioRunner } from '../scenarios/packet-runner.ts';
import { SCENARIOS } from '../scenarios/tables.ts';

for (const [mode, open] of Object.entries(MODES)) {
  const runner = await createScenarioRunner(open, SCENARIOS);
  after(() => runner[Symbol.asyncDispose]());
  for (const scenario of SCENARIOS)
    test(`${mode}: ${scenario.id}: ${scenario.title}`, () => runner.run(scenario));
}
