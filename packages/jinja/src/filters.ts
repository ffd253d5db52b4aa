// The filters of chat templates, one function each. Names and behaviour are those of jinja2, with the `tojson`
// that chat templates are rendered with. A filter that is not here is refused when it is reached.

import { argument, argumentOr, type Filter, optionalInteger, requireText } from './arguments.ts';
import { codePointCount, toCodePoints } from './code-points.ts';
import { formatPercent } from './format.ts';
import { chargeJoin } from './meter.ts';
import { capitalize, mapPieces, replaceText, splitLines, stripText } from './methods.ts';
import { toIndent, toJson, toText } from './print.ts';
import { itemFilters } from './sequence-filters.ts';
import { TemplateError } from './template-error.ts';
import {
  type Arguments,
  Float,
  isTruthy,
  iterate,
  numberOf,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

const textFilters: Readonly<Record<string, Filter>> = {
  upper: input => toText(input).toUpperCase(),
  lower: input => toText(input).toLowerCase(),
  capitalize: input => capitalize(toText(input)),
  title: input => titleWords(toText(input)),
  trim: (input, args) => {
    const characters = argument(args, 0, 'chars') ?? null;
    return stripText(toText(input), characters === null ? null : toText(characters), true, true);
  },
  string: input => toText(input),
  // Becomes markup in `evaluate.ts`.
  safe: input => toText(input),
  replace: (input, args) => {
    const count = optionalInteger(args, 2, 'count') ?? -1;
    return replaceText(
      toText(input),
      toText(argument(args, 0, 'old')!),
      toText(argument(args, 1, 'new')!),
      count,
    );
  },
  indent: (input, args) => {
    const width = argument(args, 0, 'width') ?? 4;
    const spaces = typeof width === 'string' ? 0 : (optionalInteger(args, 0, 'width') ?? 4);
    if (spaces > 1000) throw new TemplateError('indent takes a width of at most 1000.');
    const prefix = typeof width === 'string' ? width : ' '.repeat(Math.max(0, spaces));
    const [first, blank] = [argument(args, 1, 'first') ?? false, argument(args, 2, 'blank') ?? false];
    if (typeof input !== 'string') throw new TemplateError(`indent needs a string, not ${typeName(input)}`);
    return indentLines(input, prefix, isTruthy(first), isTruthy(blank));
  },
  wordcount: input =>
    toText(input)
      .matchAll(/[\p{L}\p{N}_]+/gu)
      .reduce(count => count + 1, 0),
  truncate: (input, args) => truncate(toText(input), args),
  format: (input, args) => {
    if (args.named.size > 0) throw new TemplateError('format takes values by position only.');
    return formatPercent(toText(input), new Tuple(args.positional));
  },
};

const valueFilters: Readonly<Record<string, Filter>> = {
  tojson: (input, args) => {
    if (args.positional.length > 1) throw new TemplateError('tojson takes its options by name.');
    const indent = toIndent(args.named.get('indent') ?? null);
    const [items, keys] = readSeparators(args.named.get('separators') ?? null, indent);
    if (input instanceof Undefined)
      throw new TemplateError('Object of type Undefined is not JSON serializable');
    return toJson(input, {
      indent,
      ensureAscii: isTruthy(argument(args, 0, 'ensure_ascii') ?? false),
      sortKeys: isTruthy(args.named.get('sort_keys') ?? false),
      itemSeparator: items,
      keySeparator: keys,
    });
  },
  default: (input, args) => {
    const fallback = argumentOr(args, 0, 'default_value', '');
    const replacesFalsy = isTruthy(argument(args, 1, 'boolean') ?? false);
    return input instanceof Undefined || (replacesFalsy && !isTruthy(input)) ? fallback : input;
  },
  abs: input => {
    if (input instanceof Float) return new Float(Math.abs(input.value));
    return Math.abs(requireNumber(input));
  },
  int: (input, args) => toInteger(input, argumentOr(args, 0, 'default', 0)),
  float: (input, args) => toFloat(input, argumentOr(args, 0, 'default', new Float(0))),
  round: (input, args) => round(input, args),
  length: input => lengthOf(input),
};

/** Every filter by name, second names included. */
export const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ...Object.entries({ ...textFilters, ...valueFilters, ...itemFilters }),
  ['d', valueFilters.default!],
  ['count', valueFilters.length!],
]);

export function lengthOf(value: Value): number {
  if (value instanceof Map) return value.size;
  if (value instanceof Undefined) return 0;
  if (typeof value === 'string') return codePointCount(value);
  if (Array.isArray(value) || value instanceof Tuple) return iterate(value).length;
  throw new TemplateError(`object of type '${typeName(value)}' has no len()`);
}

function requireNumber(value: Value): number {
  if (value instanceof Undefined) value.fail();
  const number = numberOf(value);
  if (number === null) throw new TemplateError(`a number is required, not ${typeName(value)}`);
  return number;
}

/** Words in jinja2's own sense: text between spaces, dashes and opening brackets. */
function titleWords(text: string): string {
  return mapPieces(text, /[-\s({[<]+|[^-\s({[<]+/g, capitalize);
}

function indentLines(text: string, prefix: string, first: boolean, blank: boolean): string {
  const lines = splitLines(`${text}\n`, false);
  chargeJoin(lines, prefix.length + 1);
  const indented = lines.map((line, i) => {
    if (i === 0) return first ? prefix + line : line;
    return blank || line !== '' ? prefix + line : line;
  });
  return indented.join('\n');
}

function truncate(text: string, args: Arguments): string {
  const length = optionalInteger(args, 0, 'length') ?? 255;
  const cutsWords = isTruthy(argument(args, 1, 'killwords') ?? false);
  const end =
    args.positional[2] === undefined && !args.named.has('end') ? '...' : requireText(args, 2, 'end');
  const leeway = optionalInteger(args, 3, 'leeway') ?? 5;
  const units = toCodePoints(text);
  if (units.length <= length + leeway) return text;
  const kept = units.slice(0, length - Array.from(end).length).join('');
  if (cutsWords) return kept + end;
  const space = kept.lastIndexOf(' ');
  return (space === -1 ? kept : kept.slice(0, space)) + end;
}

function readSeparators(value: Value, indent: string | null): [string, string] {
  const items = value instanceof Tuple ? value.items : Array.isArray(value) ? value : null;
  if (value === null) return [indent === null ? ', ' : ',', ': '];
  if (items?.length !== 2 || !items.every(item => typeof item === 'string')) {
    throw new TemplateError('separators must be two strings.');
  }
  return items as [string, string];
}

function toInteger(value: Value, fallback: Value): Value {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') {
    const text = value.trim();
    if (/^[-+]?\d(?:_?\d)*$/.test(text)) return Number(text.replaceAll('_', ''));
    const float = parseFloatText(text);
    return float === null || !Number.isFinite(float) ? fallback : Math.trunc(float);
  }
  const number = numberOf(value);
  if (number === null || !Number.isFinite(number)) return fallback;
  return Math.trunc(number) + 0;
}

function toFloat(value: Value, fallback: Value): Value {
  if (value instanceof Undefined) value.fail();
  const number = typeof value === 'string' ? parseFloatText(value.trim()) : numberOf(value);
  return number === null ? fallback : new Float(number);
}

function parseFloatText(text: string): number | null {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text) ? Number(text) : null;
}

/** Python rounds the exact value of the number, and exact halves to even. */
function round(input: Value, args: Arguments): Value {
  const precision = optionalInteger(args, 0, 'precision') ?? 0;
  const method = argument(args, 1, 'method') ?? 'common';
  const value = requireNumber(input);
  if (precision < 0 || precision > 15) throw new TemplateError('round takes a precision from 0 to 15.');
  const scale = 10 ** precision;
  if (method === 'ceil') return new Float(Math.ceil(value * scale) / scale);
  if (method === 'floor') return new Float(Math.floor(value * scale) / scale);
  if (method !== 'common') throw new TemplateError('method must be common, ceil or floor');
  if (!(input instanceof Float)) return value;
  if (Math.abs(value) >= 1e21) return input;
  // A hundred digits hold every half exactly.
  const [whole, fraction] = Math.abs(value).toFixed(100).split('.') as [string, string];
  const isHalf = /^50*$/.test(fraction.slice(precision));
  if (!isHalf) return new Float(Number(value.toFixed(precision)));
  const below = BigInt(whole + fraction.slice(0, precision));
  const even = below % 2n === 0n ? below : below + 1n;
  return new Float((Math.sign(value) * Number(even)) / scale);
}
