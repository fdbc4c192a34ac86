// The word that was probably meant.

/** The candidate nearest to a mistyped word, if one is near enough to be offered. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(word.length * 0.4)) + 1;
  for (const candidate of candidates) {
    const edits = editDistance(word, candidate);
    if (edits < fewest && edits < candidate.length) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
