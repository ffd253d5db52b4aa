// The functions that every chat template may call.

import { toText } from './print.ts';
import { strftime } from './strftime.ts';
import { TemplateError } from './template-error.ts';
import { Callable, Namespace, numberOf, sequenceItems, toKey, type Value, type ValueMap } from './values.ts';

/** The limit of jinja2's sandbox. */
const RANGE_LIMIT = 100_000;

/** `now` is the clock of `strftime_now`. */
export function templateGlobals(now: Date): Map<string, Value> {
  const functions: readonly Callable[] = [
    new Callable('raise_exception', ({ positional, named }) => {
      throw new TemplateError(toText(positional[0] ?? named.get('message') ?? ''));
    }),
    new Callable('strftime_now', ({ positional, named }) => {
      const format = positional[0] ?? named.get('format');
      if (typeof format !== 'string') throw new TemplateError('strftime_now needs a format.');
      return strftime(format, now);
    }),
    new Callable('range', ({ positional }) => range(positional)),
    new Callable('namespace', ({ positional, named }) => {
      const namespace = new Namespace();
      for (const [name, value] of toDict(positional, named)) namespace.attributes.set(toText(name), value);
      return namespace;
    }),
    new Callable('dict', ({ positional, named }) => toDict(positional, named)),
  ];
  return new Map(functions.map(each => [each.name, each]));
}

function toDict(positional: readonly Value[], named: ReadonlyMap<string, Value>): ValueMap {
  const map: ValueMap = new Map();
  const [source] = positional;
  if (source instanceof Map) for (const [key, value] of source) map.set(key, value);
  else if (source !== undefined) {
    for (const pair of sequenceItems(source) ?? []) {
      const [key, value] = sequenceItems(pair) ?? [];
      if (key === undefined || value === undefined)
        throw new TemplateError('dict needs pairs of key and value.');
      map.set(toKey(key), value);
    }
  }
  for (const [name, value] of named) map.set(name, value);
  return map;
}

function range(args: readonly Value[]): Value[] {
  const numbers = args.map(each => {
    const number = typeof each === 'object' ? null : numberOf(each);
    if (number === null) throw new TemplateError('range needs whole numbers.');
    return number;
  });
  const [start, stop, step] =
    numbers.length < 2 ? [0, numbers[0], 1] : [numbers[0]!, numbers[1], numbers[2] ?? 1];
  if (stop === undefined) throw new TemplateError('range needs at least one number.');
  if (step === 0) throw new TemplateError('range() arg 3 must not be zero');
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > RANGE_LIMIT) throw new TemplateError(`Range too big. The limit is ${RANGE_LIMIT} items.`);
  return Array.from({ length: count }, (_, i) => start + i * step);
}
