// Texts by code points, as Python counts, without making a list of them where that can be helped.

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
