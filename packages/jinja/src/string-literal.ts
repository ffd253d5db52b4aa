// String literals of a template, with the escapes of Python.

import { TemplateError } from './template-error.ts';

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

/** Value of a literal with its quotes. Unknown escapes keep their backslash, as in Python. */
export function parseStringLiteral(literal: string, line: number): string {
  const pattern = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g;
  return literal.slice(1, -1).replace(pattern, (whole, octal, hex, short, long, simple) => {
    if (simple !== undefined) {
      if (simple === 'x' || simple === 'u' || simple === 'U' || simple === 'N') {
        throw new TemplateError(`The escape ${whole} in a string is incomplete or not supported.`, line);
      }
      return SIMPLE_ESCAPES[simple] ?? whole;
    }
    const code = octal === undefined ? Number.parseInt(hex ?? short ?? long, 16) : Number.parseInt(octal, 8);
    if (code > 0x10ffff) throw new TemplateError(`The escape ${whole} is beyond Unicode.`, line);
    return String.fromCodePoint(code);
  });
}
