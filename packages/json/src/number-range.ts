// Which numbers of a JSON text are read.

/** Maximum number of digits of an integer, because reading one takes the square of its length. Source: Python's own limit. */
export const MAX_INTEGER_DIGITS = 4_300;

const INTEGER = /^-?\d+$/;

/** Whether the text of a number is that of an integer, without fraction and exponent. */
export function isInteger(source: string): boolean {
  return INTEGER.test(source);
}

/** Whether a number is read: an integer of up to `MAX_INTEGER_DIGITS`, or what a double can hold. @param value The double. */
export function isInRange(source: string, value = Number(source)): boolean {
  return isInteger(source) ? source.replace('-', '').length <= MAX_INTEGER_DIGITS : Number.isFinite(value);
}
