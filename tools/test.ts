// Runs the tests: `tools/test.ts unit` for those beside the sources and the house rules, `all` for everything.
// Further arguments pick files whose path contains one of them. One process per file: namespaces need that.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

const [which = 'all', ...picks] = process.argv.slice(2);
const unit = [...globSync('src/**/*.test.ts'), ...globSync('test/*.test.ts')];
const files = which === 'unit' ? unit : [...unit, ...globSync('test/*/**/*.test.ts')];
const chosen = files.filter((file) => picks.length === 0 || picks.some((pick) => file.includes(pick))).sort();
if (chosen.length === 0) {
  console.error(`tools/test.ts: no test file matches ${picks.join(' ')}`);
  process.exit(1);
}
const result = spawnSync(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=2',
    '--test-timeout=300000',
    ...chosen,
  ],
  { stdio: 'inherit' },
);
process.exit(result.status ?? 1);
