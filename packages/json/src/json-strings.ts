// Strings in the text of JSON: where they end, and the value of long ones, in pieces.

/**
 * Position of the closing quote, or the end of the text; jumps from quote to quote, so long texts cost little. Of a string longer than
 * `enough` any position behind so many characters.
 */
export function findStringEnd(text: string, start: number, enough = Number.POSITIVE_INFINITY): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashCount = 0;
    while (text.charCodeAt(quote - 1 - backslashCount) === BACKSLASH) backslashCount++;
    if (backslashCount % 2 === 0 || quote - start > enough) return quote;
  }
  return text.length;
}

/** Whether a colon comes next: the string that ends there is a name. */
export function isName(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  return text[at] === ':';
}

export interface LongString {
  readonly value: string;
  /** Behind the closing quote. */
  readonly end: number;
}

/**
 * The string whose opening quote is at `start`; yields after each piece of it.
 * Throws: SyntaxError.
 */
export function* readLongString(
  text: string,
  start: number,
  pieceLength: number,
): Generator<void, LongString> {
  const values: string[] = [];
  let isPlain = true;
  for (let at = start + 1; ; ) {
    const piece = text.slice(at, beforeEscape(text, at, at + pieceLength));
    const length = findStringEnd(piece, -1);
    const value = JSON.parse(`"${piece.slice(0, length)}"`) as string;
    // Every escape is longer than what it stands for.
    isPlain &&= value.length === length;
    values.push(value);
    at += length;
    yield;
    if (at === text.length) throw new SyntaxError('a string does not end');
    if (length === piece.length) continue;
    // A part of the text needs no memory of its own, but keeps all of it alive.
    const isMost = at - start > text.length / 2;
    return { value: isPlain && isMost ? text.slice(start + 1, at) : values.join(''), end: at + 1 };
  }
}

/** `end`, or the start of the escape that goes on behind it. `at`: outside of escapes, and `LONGEST_ESCAPE` ahead at least. */
function beforeEscape(text: string, at: number, end: number): number {
  for (let start = end - 1; start > end - LONGEST_ESCAPE; start--) {
    if (text.charCodeAt(start) !== BACKSLASH) continue;
    let backslashCount = 1;
    while (start - backslashCount >= at && text.charCodeAt(start - backslashCount) === BACKSLASH)
      backslashCount++;
    // After an odd number it is the second half of an escape.
    if (backslashCount % 2 === 0) return end;
    const length = text[start + 1] === 'u' ? LONGEST_ESCAPE : 2;
    return start + length > end ? start : end;
  }
  return end;
}

/** `\u` and four digits. Pieces have at least so many characters. */
export const LONGEST_ESCAPE = 6;
const BACKSLASH = 0x5c;
