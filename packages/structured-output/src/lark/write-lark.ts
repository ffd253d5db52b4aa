// Writes Lark, the grammar notation of llguidance: literals, regular expressions and embedded JSON Schemas.

import { type JsonValue, printJson } from '@ortler/json';

/** A literal text. Lone surrogates cannot be written as UTF-8 and must have been refused. */
export function larkLiteral(text: string): string {
  // The reader of llguidance takes control characters as escapes only; JSON leaves these as they are.
  return JSON.stringify(text).replace(
    /[\x7f-\x9f]/g,
    character => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}

/** A part of the answer that is JSON of a schema; stands where a rule's name may stand. */
export function larkJson(schema: JsonValue): string {
  return `%json ${printJson(schema)}`;
}

/** A regular expression in Rust's syntax between slashes. */
export function larkRegex(pattern: string): string {
  // A slash would end it, a line end is not allowed in it; an escaped character stays as it is.
  const body = pattern.replace(/\\[\s\S]|[/\n\r]/g, part =>
    part === '/'
      ? '\\/'
      : part === '\n' || part === '\\\n'
        ? '\\n'
        : part === '\r' || part === '\\\r'
          ? '\\r'
          : part,
  );
  return `/${body}/`;
}
