// Position and reason of a JSON syntax error. Runs only after the native parser has refused the text, because the messages of
// V8 do not always name a position.

import { isInRange } from './number-range.ts';

/** Unit of `position`: UTF-16 code units from the start. */
export interface JsonFault {
  readonly position: number;
  readonly reason: string;
  /** The text is JSON with a number that is out of range. */
  readonly limit?: 'number';
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The first fault of `text`, which must be text that the fast parser refuses. */
export function findJsonFault(text: string): JsonFault {
  let position = 0;
  /** Closers of the open objects and lists, innermost last. */
  const open: ('}' | ']')[] = [];

  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const found = pattern.exec(text)?.[0] ?? '';
    position += found.length;
    return found;
  };
  const fault = (reason: string): JsonFault => ({
    position,
    reason: position >= text.length ? `${reason}, found the end of the text` : reason,
  });
  // Long runs are skipped by loops: a regular expression would need stack for every character.
  const skipWhitespace = (): void => {
    while (' \t\n\r'.includes(text[position] ?? 'end')) position++;
  };
  /** Reads a string whose opening quote is next. */
  const skipString = (): JsonFault | undefined => {
    position++;
    while (text[position] !== '"') {
      const code = text.charCodeAt(position);
      if (Number.isNaN(code)) return fault('Unterminated string');
      if (code < 0x20) return fault('Control character in a string');
      if (text[position] !== '\\') position++;
      else if (skip(ESCAPE) === '') return fault('Invalid escape in a string');
    }
    position++;
    return undefined;
  };
  /** Reads `"key":` of an object. */
  const skipKey = (): JsonFault | undefined => {
    skipWhitespace();
    if (text[position] !== '"') return fault('Expected a property name in double quotes');
    const broken = skipString();
    if (broken) return broken;
    skipWhitespace();
    if (text[position] !== ':') return fault('Expected a colon');
    position++;
    return undefined;
  };

  for (;;) {
    // 1. A value starts here.
    skipWhitespace();
    const start = position;
    const first = text[position];
    if (first === '{' || first === '[') {
      const closer = first === '{' ? '}' : ']';
      position++;
      skipWhitespace();
      if (text[position] !== closer) {
        open.push(closer);
        const broken = closer === '}' ? skipKey() : undefined;
        if (broken) return broken;
        continue;
      }
      position++;
    } else if (first === '"') {
      const broken = skipString();
      if (broken) return broken;
    } else {
      const number = skip(NUMBER);
      if (number !== '' && !isInRange(number))
        return { position: start, reason: 'Number out of range', limit: 'number' };
      if (number === '' && skip(NAME) === '') return fault('Expected a value');
    }

    // 2. A value has ended: close what ends here, then expect a comma.
    for (;;) {
      skipWhitespace();
      if (open.length === 0) return fault('Expected nothing after the value');
      if (text[position] !== open.at(-1)) break;
      open.pop();
      position++;
    }
    if (text[position] !== ',') return fault(`Expected a comma or ${open.at(-1)}`);
    position++;
    const broken = open.at(-1) === '}' ? skipKey() : undefined;
    if (broken) return broken;
  }
}
