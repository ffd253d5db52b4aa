// Arguments `name=value, name=value` in a notation that is not JSON -> JSON of an object, argument by argument.

import type { ArgumentsForm } from '../tool-dialect.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import { LiteralReader } from './literal-reader.ts';

type LiteralsForm = Extract<ArgumentsForm, { readonly kind: 'literals' }>;

/** @param end Text after the last argument. */
export function createLiteralArguments(form: LiteralsForm, end: string): ArgumentsReader {
  const { nameEnd, separator, notation } = form;
  let held = '';
  let count = 0;
  let isStarted = false;

  /** The JSON of the next argument; null while it is not complete. */
  function step(): string | null {
    const text = count === 0 ? held : afterSeparator(held, separator);
    if (text === null) return null;
    const nameLength = text.indexOf(nameEnd);
    if (nameLength === -1) return null;
    const reader = new LiteralReader(text, nameLength + nameEnd.length, notation);
    const value = reader.read();
    // After a number there has to be something, because its next digit may be missing.
    if (value === null || reader.at === text.length) return null;
    const json = `${count === 0 ? '' : ', '}${JSON.stringify(text.slice(0, nameLength).trim())}: ${value}`;
    count++;
    held = text.slice(reader.at);
    return json;
  }

  return {
    push(text) {
      held += text;
      let json = isStarted ? '' : '{';
      isStarted = true;
      while (!held.startsWith(end)) {
        const next = step();
        if (next === null) return { json, rest: null };
        json += next;
      }
      return { json: `${json}}`, rest: held };
    },
  };
}

/** The text after a separator, whose blanks may be missing; null where there is none. */
function afterSeparator(text: string, separator: string): string | null {
  if (text.startsWith(separator)) return text.slice(separator.length);
  const bare = separator.trimEnd();
  return text.startsWith(bare) && text.length > bare.length ? text.slice(bare.length) : null;
}
