// Text that every database can store and compare: without control characters (PostgreSQL has no NUL in text) and without
// lone surrogates (which UTF-8 cannot encode).

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;

const encoder = new TextEncoder();

/** Whether the text takes at most this many bytes in UTF-8. */
export function fitsIntoBytes(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && encoder.encode(text).length <= maxBytes;
}

/** The message of a text that is not storable. */
export const NOT_STORABLE = 'Value error, must not contain control characters or lone surrogates';

/** Whether every database can store this text. Of others PostgreSQL refuses queries, too. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !CONTROL.test(text);
}
