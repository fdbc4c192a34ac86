// npm run scenarios -- --mode nftables [--only S123] [--list]
import { parseArgs } from 'node:util';
import { familiesOf } from './family.ts';
import { MODES, type ModeName } from './modes.ts';
import { createScenarioRunner, hasSctp } from './packet-runner.ts';
import { summaryOf } from './summary.ts';
import { SCENARIOS } from './tables.ts';

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'nftables' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const chosen = SCENARIOS.filter(({ id }) => values.only === undefined || id.split(' ').includes(values.only));
const open = MODES[values.mode as ModeName];
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
await using runner = await createScenarioRunner(values.mode, open, chosen);
for (const [scenario, family] of chosen.flatMap((one) =>
  familiesOf(one).map((item) => [one, item] as const),
)) {
  const name = `${family} ${scenario.id}: ${scenario.title}`;
  try {
    await runner.run(scenario, family);
    passed += 1;
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n     ${error instanceof Error ? error.message : String(error)}`);
  }
}
for (const line of summaryOf(values.mode, chosen, hasSctp())) console.log(line);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
