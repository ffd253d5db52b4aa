// Prompt lookup: finds an earlier occurrence of the last tokens of a text, and copies the tokens that followed it. Pure.
// Caller: `prompt-lookup-drafter.ts`.
// Source: prompt lookup decoding (Saxena 2023); the copy that may overlap its own result is that of LZ77.

/** Fewer tokens than these repeat by chance. */
const SHORTEST_MATCH = 3;
/** Longest match that is searched for: longer ones predict no better. */
const LONGEST_MATCH = 8;

/**
 * Writes what followed the last tokens of the text where they stood before: at the place with the longest match, the
 * latest of equals. A continuation that reaches the end of the text goes on with itself, so a loop is continued for
 * ever. Shape: `tokenIds` is at least `[tokenCount]`; all of `target` is written. Mutates: `target`.
 * Returns whether there was such a place; `target` is untouched if not.
 */
export function lookUpContinuation(tokenIds: Int32Array, tokenCount: number, target: Int32Array): boolean {
  const start = findMatch(tokenIds, tokenCount);
  if (start === null) return false;
  for (let i = 0; i < target.length; i++) {
    const position = start + i;
    target[i] = position < tokenCount ? tokenIds[position]! : target[position - tokenCount]!;
  }
  return true;
}

/** The position after the best match. */
function findMatch(tokenIds: Int32Array, tokenCount: number): number | null {
  let best: number | null = null;
  let longest = SHORTEST_MATCH - 1;
  const last = tokenIds[tokenCount - 1];
  for (let end = tokenCount - 1; end > longest && longest < LONGEST_MATCH; end--) {
    if (tokenIds[end - 1] !== last) continue;
    let length = 1;
    while (
      length < end &&
      length < LONGEST_MATCH &&
      tokenIds[end - 1 - length] === tokenIds[tokenCount - 1 - length]
    )
      length++;
    if (length <= longest) continue;
    longest = length;
    best = end;
  }
  return best;
}
