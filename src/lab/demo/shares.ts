// The demonstration's tables: who answered whom, with what share.
import type { Answer } from '../pods/answer.ts';
import { tally } from '../pods/answer.ts';

/** A row: one kind of client asking one address many times. */
export interface ShareRow {
  readonly from: string;
  readonly to: string;
  readonly answers: readonly Answer[];
}

/** The client address that the Pods saw, as people say it: the client's own, or another. */
export function seenSource(answers: readonly Answer[]): string {
  const seen = new Set(
    answers.flatMap((answer) => (answer.kind === 'answered' ? [addressOf(answer.client)] : [])),
  );
  return [...seen].sort().join(', ') || '-';
}

function addressOf(end: unknown): string {
  if (typeof end === 'object' && end !== null && 'address' in end) return String(end.address);
  return String(end);
}

/** The rows as lines: from, to, one column per Pod with its share, failures if any, and the source that Pods saw. */
export function shareTable(rows: readonly ShareRow[]): readonly string[] {
  const tallies = rows.map(({ answers }) => tally(answers));
  const pods = [...new Set(tallies.flatMap((one) => [...one.pods.keys()]))].sort();
  const short = (pod: string): string => pod.slice(pod.indexOf('/') + 1);
  const header = ['FROM', 'TO', ...pods.map((pod) => short(pod).toUpperCase()), 'FAILED', 'THE POD SEES'];
  const body = rows.map(({ from, to, answers }, index) => {
    const own = tallies[index];
    const failed = [...(own?.failures ?? [])].map(([how, count]) => `${count} ${how}`).join(', ');
    return [
      from,
      to,
      ...pods.map((pod) => percent(own?.pods.get(pod) ?? 0, answers.length)),
      failed || '-',
      seenSource(answers),
    ];
  });
  return aligned([header, ...body]);
}

function percent(part: number, whole: number): string {
  return part === 0 ? '-' : `${Math.round((100 * part) / whole)} %`;
}

/** Cells padded to columns, two spaces apart. */
export function aligned(lines: readonly (readonly string[])[]): readonly string[] {
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
