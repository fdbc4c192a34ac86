// The demonstration's tables: who answered whom, with what share.
import { type Answer, type Tally, tally } from '../pods/answer.ts';

/** A row: one client asked one address many times. */
export interface ShareRow extends Tally {
  readonly from: string;
  readonly to: string;
  /** The client addresses that Pods saw; empty where nobody looked. */
  readonly seen: string;
}

export function shareRow(from: string, to: string, answers: readonly Answer[]): ShareRow {
  const seen = new Set(
    answers.flatMap((answer) => (answer.kind === 'answered' ? [answer.client.address] : [])),
  );
  return { from, to, ...tally(answers), seen: [...seen].sort().join(', ') };
}

/** The rows as lines: from, to, one column per Pod with its share, failures if any, and the sources that Pods saw. */
export function shareTable(rows: readonly ShareRow[]): readonly string[] {
  const pods = [...new Set(rows.flatMap((row) => [...row.pods.keys()]))].sort();
  const withSources = rows.some(({ seen }) => seen !== '');
  const header = [
    'FROM',
    'TO',
    ...pods.map((pod) => pod.slice(pod.indexOf('/') + 1).toUpperCase()),
    'FAILED',
  ];
  const body = rows.map((row) => {
    const failed = [...row.failures].map(([how, count]) => `${count} ${how}`).join(', ');
    const shares = pods.map((pod) => percent(row.pods.get(pod) ?? 0, total(row)));
    return [row.from, row.to, ...shares, failed || '-', ...(withSources ? [row.seen || '-'] : [])];
  });
  return aligned([[...header, ...(withSources ? ['THE POD SEES'] : [])], ...body]);
}

function total({ pods, failures }: Tally): number {
  return [...pods.values(), ...failures.values()].reduce((sum, count) => sum + count, 0);
}

function percent(part: number, whole: number): string {
  return part === 0 ? '-' : `${Math.round((100 * part) / whole)} %`;
}

/** Cells padded to columns, two spaces apart. */
function aligned(lines: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
