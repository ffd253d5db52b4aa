// Suggests a known word for a misspelt one, by Levenshtein distance. Caller: `config.ts`.

/** Largest distance of a suggestion. */
const MAX_EDITS = 3;

/** The known word at the smallest distance from `word`; undefined when all are farther than `MAX_EDITS`. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of known) {
    const edits = countEdits(word, candidate);
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

// Levenshtein distance, one row at a time.
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}
