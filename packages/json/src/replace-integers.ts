// Replaces integers in the text of JSON, for readers whose parser would round them.

import { findStringEnd } from './json-strings.ts';
import { MAY_HOLD_BIG_NUMBER } from './lossless-json.ts';
import { isInRange, isInteger } from './number-range.ts';

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Digits of 2^53. */
const SHORTEST_LENGTH = 16;

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The text with each integer outside ±(2^53 - 1) of up to `MAX_INTEGER_DIGITS` replaced. All else stays as it is; text that is not JSON
 * does not become JSON.
 * @param replace Gives JSON for the digits of an integer.
 */
export function replaceBigIntegers(text: string, replace: (digits: string) => string): string {
  if (!MAY_HOLD_BIG_NUMBER.test(text)) return text;
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(text) ?? [];
      if (number === undefined) continue;
      if (isBigInteger(number)) {
        parts.push(text.slice(copied, at), replace(number));
        copied = at + number.length;
      }
      at += number.length - 1;
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(copied);
}

function isBigInteger(number: string): boolean {
  // JSON has no leading zeros.
  if (number.length < SHORTEST_LENGTH || /^-?0/.test(number)) return false;
  return isInteger(number) && isInRange(number) && !Number.isSafeInteger(Number(number));
}
