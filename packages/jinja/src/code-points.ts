// Strings by code points, the unit in which Python counts, without a list of them where possible.

import { chargeItems } from './meter.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** Every character of a text as its own text. */
export function toCodePoints(text: string): string[] {
  chargeItems(text.length);
  return Array.from(text);
}

export function codePointCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The character at a position from the start, or from the end for a negative one. */
export function codePointAt(text: string, index: number): string | undefined {
  if (!SURROGATE.test(text)) return text[index < 0 ? text.length + index : index];
  return toCodePoints(text).at(index < 0 ? index : Math.min(index, text.length));
}

/** Whether positions of the text are the same in UTF-16 units. */
export function isPlain(text: string): boolean {
  return !SURROGATE.test(text);
}

/** How often a part occurs without overlap, to meter a result before it is built; an empty part occurs between all units. */
export function countOccurrences(text: string, part: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++;
  return count;
}
