// A process that cleans up the network namespace it is in and prints the report: clean-up all|MODE [no-programs]. To be started there.
import { cleanUpLeftovers } from '../../src/backends/leftovers/clean-up.ts';
import type { LeftoverPrograms } from '../../src/backends/leftovers/iptables-programs.ts';
import { describeCleanup } from '../../src/backends/leftovers/report.ts';
import { silentLogger } from '../../src/base/log.ts';

const NO_PROGRAMS: LeftoverPrograms = {
  find: async () => undefined,
  run: async () => ({ code: 127, out: '', err: 'no such program' }),
};
const keep = (['nftables', 'iptables', 'ipvs'] as const).find((mode) => mode === process.argv[2]);
const started = performance.now();
const report = await cleanUpLeftovers({
  what: keep === undefined ? 'all' : { keep },
  log: silentLogger,
  path: process.env.PATH ?? '',
  ...(process.argv[3] === 'no-programs' && { programs: NO_PROGRAMS }),
});
const { lines, exitCode } = describeCleanup(report);
console.log(JSON.stringify({ lines, exitCode, ms: performance.now() - started }));
