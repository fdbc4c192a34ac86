// npm run scenarios -- --mode nftables [--only S123] [--list]
import { parseArgs } from 'node:util';
import type { Mode } from '../../src/backends/backend.ts';
import { MODES } from './modes.ts';
import { createScenarioRunner } from './packet-runner.ts';
import { SCENARIOS } from './tables.ts';

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'nftables' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const chosen = SCENARIOS.filter(({ id }) => values.only === undefined || id.split(' ').includes(values.only));
const open = MODES[values.mode as Mode];
if (chosen.length === 0 || open === undefined) {
  const why =
    open === undefined
      ? `no mode '${values.mode}': ${Object.keys(MODES).join(', ')}`
      : `no scenario '${values.only}' (--list shows them)`;
  console.error(`scenarios: ${why}`);
  process.exit(2);
}
if (values.list) {
  for (const { id, title } of chosen) console.log(`${id.padEnd(30)} ${title}`);
  process.exit(0);
}
let passed = 0;
let failed = 0;
await using runner = await createScenarioRunner(open, chosen);
for (const scenario of chosen) {
  try {
    await runner.run(scenario);
    passed += 1;
    console.log(`ok   ${scenario.id}: ${scenario.title}`);
  } catch (error) {
    failed += 1;
    console.log(
      `FAIL ${scenario.id}: ${scenario.title}\n     ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
