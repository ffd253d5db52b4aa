// Arguments that are JSON: the model's own characters, unchanged. Only their end has to be found.

import type { ArgumentsReader } from './arguments-reader.ts';

/** Reads one object. */
export function createJsonArguments(): ArgumentsReader {
  let depth = 0;
  let isString = false;
  let isEscaped = false;

  return {
    push(text) {
      for (let at = 0; at < text.length; at++) {
        const character = text[at];
        if (isEscaped) isEscaped = false;
        else if (isString) {
          if (character === '\\') isEscaped = true;
          else if (character === '"') isString = false;
        } else if (character === '"') isString = true;
        else if (character === '{' || character === '[') depth++;
        else if (character === '}' || character === ']') {
          depth--;
          if (depth === 0) return { json: text.slice(0, at + 1), rest: text.slice(at + 1) };
        }
      }
      return { json: text, rest: null };
    },
  };
}
