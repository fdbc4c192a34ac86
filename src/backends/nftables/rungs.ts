// The ladder of list sizes for which pick chains exist: 1 to 8, then four per octave. A packet draws one of `rung`
// slots; empty ones beyond the end of the list are drawn again, so a list shares the chain of the next rung.

/** Slots are 16 bits wide in plan words, and sticky local lists start at 65536. */
export const LARGEST_RUNG = 57_344;

/** The smallest rung that holds a list of this length (1 to 57344). */
export function rungFor(length: number): number {
  if (length <= 8) return Math.max(1, length);
  const octave = 2 ** (Math.ceil(Math.log2(length)) - 1);
  const step = octave / 4;
  return Math.min(LARGEST_RUNG, Math.ceil(length / step) * step);
}
