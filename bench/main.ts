// npm run bench -- NAME [OPTIONS]: runs one benchmark and prints its table, or with --json one object `{"rows":[…]}`.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { machineNoise, rounded } from './statistics.ts';
import { benchSync } from './sync.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    services: { type: 'string', default: '1000,10000,30000' },
    endpoints: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});

type Row = Readonly<Record<string, number>>;

function numbers(flag: string, text: string): number[] {
  const list = text.split(',').map(Number);
  if (list.every((value) => Number.isInteger(value) && value > 0)) return list;
  console.error(`bench: --${flag} is '${text}', not whole numbers separated by commas`);
  process.exit(2);
}

function printTable(rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  for (const line of lines)
    console.log(line.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  '));
}

const [name = ''] = positionals;
if (name !== 'sync') {
  console.error(`bench: no benchmark '${name}': sync [--services 1000,10000,30000] [--endpoints 3] [--json]`);
  process.exit(2);
}
const noise = machineNoise();
const rows: Row[] = [];
for (const endpoints of numbers('endpoints', values.endpoints)) {
  for (const services of numbers('services', values.services)) {
    if (!values.json) console.error(`${services} Services x ${endpoints} endpoints…`);
    rows.push({ ...(await benchSync(services, endpoints)) });
  }
}
if (values.json) console.log(JSON.stringify({ rows }));
else {
  printTable(rows);
  console.log(
    `\nNode ${process.version}, ${cpus().length} CPUs; the machine's noise is ${rounded(noise)} (99th percentile of a fixed piece of work, in medians)`,
  );
}
