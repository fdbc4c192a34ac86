// Small statistics for benchmarks.

/** The value below which the given share (0 to 1) of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Rounded to three significant places, for tables. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/**
 * The machine's noise: how much longer than its median the same fixed piece of work takes at worst, over half a
 * second. 1 is a quiet machine.
 */
export function machineNoise(): number {
  const times: number[] = [];
  const end = performance.now() + 500;
  while (performance.now() < end) {
    const start = performance.now();
    let sum = 0;
    for (let index = 0; index < 200_000; index++) sum = (sum * 31 + index) | 0;
    times.push(performance.now() - start + (sum === 1 ? 1 : 0));
  }
  return quantile(times, 0.99) / quantile(times, 0.5);
}
