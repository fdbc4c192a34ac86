// Durations as Go writes them: `1h30m`, `500ms`, `0`. Inside they are milliseconds.

/** Milliseconds, with fractions. */
export type DurationMs = number;

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** Go counts nanoseconds in 64 bits. */
const LONGEST_MS = 9_223_372_036_854;

/** Reads a duration of the Go form; undefined when it is none. */
export function parseDuration(text: string): DurationMs | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  if (!/^((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let total = 0;
  for (const [, amount, unit] of rest.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? Number.NaN);
  }
  return total <= LONGEST_MS ? sign * total : undefined;
}

/** Writes it as Go does: `15m0s`, `1.5s`, `500ms`, `0s`. */
export function durationText(duration: DurationMs): string {
  const sign = duration < 0 ? '-' : '';
  const ms = Math.abs(duration);
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${sign}${trim(ms * 1e6)}ns`;
  if (ms < 1) return `${sign}${trim(ms * 1e3)}µs`;
  if (ms < 1000) return `${sign}${trim(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = trim((ms % 60_000) / 1000);
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

/** Nanosecond precision is what Go has; beyond are rounding errors of fractions. */
function trim(amount: number): string {
  return String(Number(amount.toFixed(9)));
}
