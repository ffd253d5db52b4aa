// Repetition in generated text: its last bytes are one unit, several times in a row. Caller: `json-form-matcher.ts`.

/** Longest unit. Unit: bytes. */
const LONGEST_UNIT = 256;
/** A unit counts as repeated when it comes this often in a row ... */
const REPEATS = 3;
/** ... and fills this many bytes: a line of 80 dashes does not count. */
const REPEATED_BYTES = 96;

/**
 * Length of the shortest unit that the text from `start` to `end` ends with, at least three times in a row and over at least
 * 96 bytes. 0: there is none. A last repetition that is incomplete counts by its bytes.
 *
 * @param missing Bytes that may be missing from the repetition, because a token may bring them.
 */
export function findRepeatedUnit(bytes: Uint8Array, start: number, end: number, missing = 0): number {
  const length = end - start + missing;
  if (length < REPEATED_BYTES) return 0;
  const longest = Math.min(LONGEST_UNIT, Math.floor(length / REPEATS));
  for (let unit = 1; unit <= longest; unit++) {
    const needed = Math.max(REPEATS * unit, REPEATED_BYTES) - unit - missing;
    let equal = 0;
    for (let at = end - 1; equal < needed && at - unit >= start; at--, equal++)
      if (bytes[at] !== bytes[at - unit]) break;
    if (equal === needed) return unit;
  }
  return 0;
}

/** Whether the `length` bytes before two places are the same. */
export function isTwice(bytes: Uint8Array, first: number, second: number, length: number): boolean {
  if (length <= 0 || length > first) return false;
  for (let i = 1; i <= length; i++) if (bytes[first - i] !== bytes[second - i]) return false;
  return true;
}

/** Where a repetition that ends at `end` can begin. */
export function windowStart(end: number): number {
  return Math.max(0, end - REPEATS * LONGEST_UNIT);
}

/**
 * Whether the last `unit` bytes are members of one list or object, from the comma before them: brackets are balanced, and
 * there is a text in them. Lists of numbers are data, in which equal values are not a loop.
 */
export function isMemberUnit(bytes: Uint8Array, unit: number, end: number): boolean {
  const start = end - unit;
  if (bytes[start] !== 0x2c) return false;
  let depth = 0;
  let isInString = false;
  let hasText = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (isInString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) isInString = false;
    } else if (byte === 0x22) {
      isInString = true;
      hasText = true;
    } else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth < 0) return false;
  }
  return depth === 0 && !isInString && hasText;
}
