// Strings in the text of JSON: where they end, and the value of long ones, in pieces.

/**
 * Position of the closing quote, or the end of the text; jumps from quote to quote, so long texts cost little. Of a string longer than
 * `enough` any position behind so many characters.
 */
export function findStringEnd(text: string, start: number, enough = Number.POSITIVE_INFINITY): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (backslashesBefore(text, quote) % 2 === 0 || quote - start > enough) return quote;
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
    const piece = text.slice(at, at + pieceLength);
    const quote = findStringEnd(piece, -1);
    const isLast = quote < piece.length;
    if (!isLast && piece.length < pieceLength) throw new SyntaxError('a string does not end');
    const length = isLast ? quote : lengthOfWholeEscapes(piece);
    const value = JSON.parse(`"${piece.slice(0, length)}"`) as string;
    // Every escape is longer than what it stands for.
    isPlain &&= value.length === length;
    values.push(value);
    at += length;
    yield;
    if (!isLast) continue;
    // A part of the text needs no memory of its own, but keeps all of it alive.
    const isMost = at - start > text.length / 2;
    return { value: isPlain && isMost ? text.slice(start + 1, at) : values.join(''), end: at + 1 };
  }
}

/** Length of a piece that begins outside of escapes, without an escape that goes on behind it. */
function lengthOfWholeEscapes(piece: string): number {
  const last = piece.lastIndexOf('\\');
  const isSecondHalf = backslashesBefore(piece, last) % 2 === 1;
  const escapeLength = piece[last + 1] === 'u' ? LONGEST_ESCAPE : 2;
  return last === -1 || isSecondHalf || last + escapeLength <= piece.length ? piece.length : last;
}

function backslashesBefore(text: string, end: number): number {
  let count = 0;
  while (text.charCodeAt(end - 1 - count) === BACKSLASH) count++;
  return count;
}

/** `\u` and four digits. Pieces have at least so many characters. */
export const LONGEST_ESCAPE = 6;
const BACKSLASH = 0x5c;
