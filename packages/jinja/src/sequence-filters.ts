// Filters of sequences: map, select, reject, sort, group, join and others.

import { argument, argumentOr, type Filter, type FilterContext, optionalInteger } from './arguments.ts';
import { applyBinary } from './arithmetic.ts';
import { getAttribute, getItem } from './attributes.ts';
import { toCodePoints } from './code-points.ts';
import { chargeItems, chargeJoin, chargeText, countStep } from './meter.ts';
import { toText } from './print.ts';
import { TemplateError } from './template-error.ts';
import {
  type Arguments,
  compareValues,
  Generator,
  isEqual,
  isTruthy,
  iterate,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export const itemFilters: Readonly<Record<string, Filter>> = {
  list: input => [...iterate(input)],
  first: input => only(input instanceof Generator ? input.take(1) : iterate(input).slice(0, 1), 'first'),
  last: input => {
    if (input instanceof Generator) throw new TemplateError("'generator' object is not reversible");
    return only(iterate(input).slice(-1), 'last');
  },
  reverse: input => {
    if (typeof input === 'string') return toCodePoints(input).reverse().join('');
    if (input instanceof Map) throw new TemplateError('A dict cannot be reversed here; reverse its items.');
    const items = [...iterate(input)].reverse();
    return input instanceof Generator ? items : new Generator(items);
  },
  join: (input, args) => {
    const separator = toText(argumentOr(args, 0, 'd', ''));
    const attribute = argument(args, 1, 'attribute');
    const items = iterate(input);
    const texts = (attribute === undefined ? items : items.map(item => readPath(item, attribute))).map(
      toText,
    );
    chargeJoin(texts, separator.length);
    return texts.join(separator);
  },
  items: input => {
    if (input instanceof Undefined) return new Generator([]);
    if (!(input instanceof Map)) throw new TemplateError('Can only get item pairs from a mapping.');
    return new Generator([...input].map(entry => new Tuple(entry)));
  },
  dictsort: (input, args) => {
    if (!(input instanceof Map)) throw new TemplateError(`dictsort needs a dict, not ${typeName(input)}`);
    const isCaseSensitive = isTruthy(argument(args, 0, 'case_sensitive') ?? false);
    const by = argument(args, 1, 'by') ?? 'key';
    const position = by === 'value' ? 1 : 0;
    const entries = sorted([...input], entry => foldCase(entry[position]!, isCaseSensitive));
    if (isTruthy(argument(args, 2, 'reverse') ?? false)) entries.reverse();
    return entries.map(entry => new Tuple(entry));
  },
  sort: (input, args) => {
    const isReverse = isTruthy(argument(args, 0, 'reverse') ?? false);
    const isCaseSensitive = isTruthy(argument(args, 1, 'case_sensitive') ?? false);
    const attribute = argument(args, 2, 'attribute');
    const key = (item: Value): Value =>
      foldCase(attribute === undefined ? item : readPath(item, attribute), isCaseSensitive);
    return sorted([...iterate(input)], key, isReverse);
  },
  unique: (input, args) => {
    const isCaseSensitive = isTruthy(argument(args, 0, 'case_sensitive') ?? false);
    const attribute = argument(args, 1, 'attribute');
    const seen: Value[] = [];
    const first = iterate(input).filter(item => {
      const key = foldCase(attribute === undefined ? item : readPath(item, attribute), isCaseSensitive);
      if (Array.isArray(key) || key instanceof Map)
        throw new TemplateError(`unhashable type: '${typeName(key)}'`);
      if (seen.some(each => isEqual(each, key))) return false;
      seen.push(key);
      return true;
    });
    return new Generator(first);
  },
  max: (input, args) => extreme(input, args, 1),
  min: (input, args) => extreme(input, args, -1),
  sum: (input, args) => {
    const attribute = argument(args, 0, 'attribute');
    let total: Value = argument(args, 1, 'start') ?? 0;
    for (const item of iterate(input)) {
      total = applyBinary(
        '+',
        total,
        attribute === undefined || attribute === null ? item : readPath(item, attribute),
      );
    }
    return total;
  },
  map: (input, args, context) => new Generator(itemsOf(input).map(mapper(args, context))),
  select: (input, args, context) => new Generator(itemsOf(input).filter(tester(args, context))),
  reject: (input, args, context) => {
    const isSelected = tester(args, context);
    return new Generator(itemsOf(input).filter(item => !isSelected(item)));
  },
  selectattr: (input, args, context) => new Generator(itemsOf(input).filter(attributeTester(args, context))),
  rejectattr: (input, args, context) => {
    const isSelected = attributeTester(args, context);
    return new Generator(itemsOf(input).filter(item => !isSelected(item)));
  },
  batch: (input, args) => {
    const size = optionalInteger(args, 0, 'linecount') ?? 0;
    if (size < 1) throw new TemplateError('batch needs a line count of at least 1.');
    const items = iterate(input);
    chargeItems(size);
    const fill = argument(args, 1, 'fill_with') ?? null;
    const lines: Value[][] = [];
    for (let at = 0; at < items.length; at += size) lines.push(items.slice(at, at + size));
    const last = lines.at(-1);
    if (last !== undefined && fill !== null) while (last.length < size) last.push(fill);
    return new Generator(lines);
  },
};

function only(items: readonly Value[], which: string): Value {
  const [item = new Undefined(`No ${which} item, sequence was empty.`)] = items;
  return item;
}

/** A dotted path or a position, as `attribute=` takes it. */
function readPath(item: Value, path: Value): Value {
  countStep();
  if (typeof path === 'number') return getItem(item, path);
  if (typeof path !== 'string') throw new TemplateError('attribute must be a string or a number.');
  let value = item;
  for (const part of path.split('.')) {
    countStep();
    value = /^\d+$/.test(part) ? getItem(value, Number(part)) : lookUp(value, part);
  }
  return value;
}

/** jinja2 looks up each step of a path as an item first. */
function lookUp(value: Value, name: string): Value {
  if (!(value instanceof Map)) return getItem(value, name);
  const found = value.get(name);
  return found === undefined ? getAttribute(value, name) : found;
}

/** For these filters every falsy value is empty. */
function itemsOf(input: Value): readonly Value[] {
  return isTruthy(input) ? iterate(input) : [];
}

function mapper(args: Arguments, context: FilterContext): (item: Value) => Value {
  const attribute = args.named.get('attribute');
  if (args.positional.length === 0 && attribute !== undefined) {
    const fallback = args.named.get('default');
    return item => {
      const value = readPath(item, attribute);
      return value instanceof Undefined && fallback !== undefined ? fallback : value;
    };
  }
  const [name, ...rest] = args.positional;
  if (typeof name !== 'string') throw new TemplateError('map requires a filter argument');
  return item => context.applyFilter(name, item, { positional: rest, named: args.named });
}

function tester(args: Arguments, context: FilterContext): (item: Value) => boolean {
  const [name, ...rest] = args.positional;
  if (name === undefined) return isTruthy;
  if (typeof name !== 'string') throw new TemplateError('The name of the test must be a string.');
  return item => context.applyTest(name, item, { positional: rest, named: args.named });
}

function attributeTester(args: Arguments, context: FilterContext): (item: Value) => boolean {
  const [path, ...rest] = args.positional;
  if (path === undefined) throw new TemplateError('Missing parameter for attribute name');
  const isSelected = tester({ positional: rest, named: args.named }, context);
  return item => isSelected(readPath(item, path));
}

function foldCase(value: Value, isCaseSensitive: boolean): Value {
  if (typeof value !== 'string' || isCaseSensitive) return value;
  chargeText(value.length);
  return value.toLowerCase();
}

/** Stable in both directions, as Python sorts. */
function sorted<T>(items: T[], key: (item: T) => Value, isReverse = false): T[] {
  const sign = isReverse ? -1 : 1;
  return items
    .map(item => ({ item, key: key(item) }))
    .sort((a, b) => sign * compareValues(a.key, b.key))
    .map(({ item }) => item);
}

function extreme(input: Value, args: Arguments, sign: 1 | -1): Value {
  const isCaseSensitive = isTruthy(argument(args, 0, 'case_sensitive') ?? false);
  const attribute = argument(args, 1, 'attribute');
  let best: { item: Value; key: Value } | null = null;
  for (const item of iterate(input)) {
    const key = foldCase(attribute === undefined ? item : readPath(item, attribute), isCaseSensitive);
    if (best === null || sign * compareValues(key, best.key) > 0) best = { item, key };
  }
  return best === null ? new Undefined('No aggregated item, sequence was empty.') : best.item;
}
