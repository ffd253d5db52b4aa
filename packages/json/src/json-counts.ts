// Counts the values of a JSON text without reading it, so that one with more than its readers take is refused at the cost of a
// scan: a million keys take a parser, a schema and a copy of the object seconds.

import { findStringEnd } from './json-slices.ts';

export interface JsonCountLimits {
  /** Values in all, those of objects and lists included. */
  readonly maxValueCount: number;
  /** Items of one object. */
  readonly maxKeyCount: number;
}

/** What of a text is past its limit; null: nothing. Text that is no JSON is left to the parser to refuse. */
export function findExcess(text: string, limits: JsonCountLimits): keyof JsonCountLimits | null {
  const { maxValueCount, maxKeyCount } = limits;
  /** Commas of each open object; -1: a list. */
  const open: number[] = [];
  let valueCount = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === BRACE || code === BRACKET) {
      open.push(code === BRACE ? 0 : -1);
      valueCount++;
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) open.pop();
    else if (code === COMMA) {
      valueCount++;
      const level = open.length - 1;
      const commaCount = open[level] ?? -1;
      if (commaCount !== -1) {
        if (commaCount + 2 > maxKeyCount) return 'maxKeyCount';
        open[level] = commaCount + 1;
      }
    } else continue;
    if (valueCount > maxValueCount) return 'maxValueCount';
  }
  return null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
