// Values to text as Python prints them: `str`, `repr` and `json.dumps`.

import { chargeItems, chargeJoin } from './meter.ts';
import { TemplateError } from './template-error.ts';
import {
  Callable,
  Float,
  Generator,
  isTruthy,
  Namespace,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** Python's `str(value)`; what `{{ value }}` shows. */
export function toText(value: Value): string {
  return typeof value === 'string' ? value : value instanceof Undefined ? '' : toRepr(value);
}

/** Python's `repr(value)`. */
export function toRepr(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return integerText(value);
  if (typeof value === 'string') return stringRepr(value);
  if (value instanceof Float) return floatText(value.value);
  if (Array.isArray(value)) return `[${joined(value.map(toRepr))}]`;
  if (value instanceof Tuple) {
    return `(${joined(value.items.map(toRepr))}${value.items.length === 1 ? ',' : ''})`;
  }
  if (value instanceof Map) {
    return `{${joined([...value].map(([key, inner]) => `${toRepr(key)}: ${toRepr(inner)}`))}}`;
  }
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Callable)
    throw new TemplateError(`The function "${value.name}" cannot be printed; call it.`);
  if (value instanceof Generator)
    throw new TemplateError('A generator cannot be printed; pass it through the filter "list" or "join".');
  throw new TemplateError(`A ${value instanceof Namespace ? 'namespace' : 'loop'} cannot be printed.`);
}

function joined(parts: readonly string[]): string {
  chargeJoin(parts, 2);
  return parts.join(', ');
}

function integerText(value: number | bigint): string {
  return BigInt(value).toString();
}

/** Shortest digits that read back the same, with Python's choice between plain and exponent form. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = Math.abs(exponent).toString().padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const plain = exponent < 0 ? value.toFixed(fractionLength(mantissa) - exponent) : value.toString();
  return plain.includes('.') ? plain : `${plain}.0`;
}

function fractionLength(mantissa: string): number {
  return mantissa.includes('.') ? mantissa.length - mantissa.indexOf('.') - 1 : 0;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) out += short;
    else if (character === quote) out += `\\${quote}`;
    else if (character !== ' ' && /[\p{C}\p{Z}]/u.test(character))
      out += hexEscape(character.codePointAt(0)!);
    else out += character;
  }
  return out + quote;
}

function hexEscape(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

export interface JsonOptions {
  readonly indent: string | null;
  readonly ensureAscii: boolean;
  readonly sortKeys: boolean;
  readonly itemSeparator: string;
  readonly keySeparator: string;
}

/** Python's `json.dumps`. Throws for values that JSON does not have. */
export function toJson(value: Value, options: JsonOptions, outerIndent = ''): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number' || typeof value === 'bigint') return integerText(value);
  if (value instanceof Float) return jsonFloat(value.value);
  if (typeof value === 'string') return jsonString(value, options.ensureAscii);
  if (Array.isArray(value) || value instanceof Tuple) {
    const items = Array.isArray(value) ? value : value.items;
    const indent = outerIndent + (options.indent ?? '');
    return wrap(
      '[',
      items.map(item => toJson(item, options, indent)),
      ']',
      options,
      outerIndent,
    );
  }
  if (value instanceof Map) {
    const indent = outerIndent + (options.indent ?? '');
    let entries = [...value].map(([key, inner]) => [jsonKey(key), inner] as const);
    if (options.sortKeys) entries = entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const parts = entries.map(
      ([key, inner]) =>
        `${jsonString(key, options.ensureAscii)}${options.keySeparator}${toJson(inner, options, indent)}`,
    );
    return wrap('{', parts, '}', options, outerIndent);
  }
  throw new TemplateError(`Object of type ${typeName(value)} is not JSON serializable`);
}

function wrap(
  opener: string,
  parts: readonly string[],
  closer: string,
  options: JsonOptions,
  outer: string,
): string {
  if (parts.length === 0) return opener + closer;
  chargeJoin(parts, outer.length + (options.indent?.length ?? 0) + options.itemSeparator.length + 1);
  if (options.indent === null) return opener + parts.join(options.itemSeparator) + closer;
  const inner = `\n${outer}${options.indent}`;
  return `${opener}${inner}${parts.join(options.itemSeparator + inner)}\n${outer}${closer}`;
}

function jsonKey(key: Value): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return key ? 'true' : 'false';
  if (typeof key === 'number' || typeof key === 'bigint') return integerText(key);
  if (key instanceof Float) return jsonFloat(key.value);
  throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return floatText(value);
}

function jsonString(text: string, ensureAscii: boolean): string {
  // The two languages escape the same characters, but Python leaves lone surrogates alone.
  const plain = JSON.stringify(text.toWellFormed());
  if (!ensureAscii || !/[\u007f-\uffff]/.test(plain)) return plain;
  // Each of these characters is a match, which is kept until the last one is found.
  chargeItems(plain.length);
  return plain.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** How `indent` of `tojson` is given: a number of spaces, a text, or nothing. */
export function toIndent(value: Value): string | null {
  if (value === null || value instanceof Undefined) return null;
  if (typeof value === 'number') return ' '.repeat(Math.min(Math.max(0, value), 100));
  if (typeof value === 'string' && value.length <= 100) return value;
  throw new TemplateError(
    `indent must be a number or a string, not ${typeName(value)}${isTruthy(value) ? '' : ' (empty)'}`,
  );
}
