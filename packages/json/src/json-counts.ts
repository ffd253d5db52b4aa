// Counts the values of a JSON text while its bytes arrive, without reading it, so that a text with too many
// values for its readers is refused at the cost of a scan: parsing, validating and copying an object of a
// million keys takes seconds.

export interface JsonCountLimits {
  /** Values in all, those of objects and lists included. */
  readonly maxValueCount: number;
  /** Items of one object. */
  readonly maxKeyCount: number;
}

/** The values of one text in UTF-8. Text that is not JSON is left to the parser to refuse. */
export class JsonCounter {
  readonly #limits: JsonCountLimits;
  /** Commas of each open object; -1: a list. */
  readonly #open: number[] = [];
  #valueCount = 1;
  #isInString = false;
  #isEscaped = false;

  constructor(limits: JsonCountLimits) {
    this.#limits = limits;
  }

  /** Counts the next bytes. Returns which limit the text has exceeded so far; null: none. */
  add(bytes: Uint8Array): keyof JsonCountLimits | null {
    // Local variables, because this loop sees every byte of a body.
    const { maxValueCount, maxKeyCount } = this.#limits;
    const open = this.#open;
    let valueCount = this.#valueCount;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    let plainCount = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
        else if (++plainCount === SHORT_STRING) {
          plainCount = 0;
          const quote = bytes.indexOf(QUOTE, at);
          const end = quote === -1 ? bytes.length : quote;
          isEscaped = hasOddBackslashes(bytes, end);
          at = end - 1;
        }
        continue;
      }
      if (byte === QUOTE) {
        isInString = true;
        plainCount = 0;
      } else if (byte === BRACE || byte === BRACKET) {
        open.push(byte === BRACE ? 0 : -1);
        valueCount++;
      } else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) open.pop();
      else if (byte === COMMA) {
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
    this.#valueCount = valueCount;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
    return null;
  }
}

/** Whether what stands at `end` is escaped, where a byte before it is no backslash. */
function hasOddBackslashes(bytes: Uint8Array, end: number): boolean {
  let count = 0;
  while (bytes[end - 1 - count] === BACKSLASH) count++;
  return count % 2 === 1;
}

/** From here on the end of a string is looked for natively: a call costs as much as some dozen bytes of the loop. */
const SHORT_STRING = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
