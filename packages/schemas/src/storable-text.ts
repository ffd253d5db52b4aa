// Which text every database can keep and compare: no control characters (PostgreSQL has no NUL in text) and no half of
// a surrogate pair (it has no UTF-8).

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Whether a name can be stored as it is. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !CONTROL.test(text);
}
