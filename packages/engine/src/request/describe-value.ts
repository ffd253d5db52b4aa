/** Maximum number of characters of a text in a message. */
const SHOWN_LENGTH = 80;

/** A value in a message, whatever it is: a text in quotes, so that "0" is not taken for 0, and cut. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    const isLong = value.length > SHOWN_LENGTH;
    return JSON.stringify(isLong ? `${value.slice(0, SHOWN_LENGTH)}…` : value);
  }
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}
