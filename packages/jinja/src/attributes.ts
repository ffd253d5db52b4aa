// `value.name`, `value[key]` and slices. The sandbox of jinja2 hides names that begin with an underscore and
// refuses methods that would change a list or a dictionary.

import { codePointAt, isPlain, toCodePoints } from './code-points.ts';
import { chargeItems } from './meter.ts';
import { dictMethods, listMethods, stringMethods } from './methods.ts';
import { TemplateError } from './template-error.ts';
import {
  Callable,
  LoopState,
  Namespace,
  numberOf,
  sequenceItems,
  Tuple,
  toKey,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

const MUTATORS: readonly string[] = [
  'append',
  'extend',
  'insert',
  'pop',
  'remove',
  'reverse',
  'sort',
  'clear',
  'update',
  'setdefault',
  'popitem',
];

/** Further attributes of Python's values: not implemented, and therefore an error instead of undefined. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  str: 'center encode expandtabs format_map isascii isdecimal isidentifier isnumeric isprintable istitle ljust maketrans rjust translate zfill'.split(
    ' ',
  ),
  dict: ['fromkeys'],
  int: 'as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real to_bytes'.split(
    ' ',
  ),
  float: 'as_integer_ratio conjugate fromhex hex imag is_integer real'.split(' '),
};

/** `object.name`: a method or field first, then a key of a dictionary. */
export function getAttribute(object: Value, name: string): Value {
  if (object instanceof Undefined) object.fail();
  if (name.startsWith('_')) return unsafe(object, name);
  const method = methodOf(object, name);
  if (method !== undefined) return method;
  refuse(object, name);
  const found = object instanceof Map ? object.get(name) : undefined;
  // None is a value, and a key that holds it is defined.
  return found === undefined ? missing(object, name) : found;
}

/** `object[key]`: a key or position first, then, for texts, a method or field. */
export function getItem(object: Value, key: Value): Value {
  if (object instanceof Undefined) object.fail();
  if (object instanceof Map) {
    const found = isHashable(key) ? object.get(toKey(key)) : undefined;
    if (found !== undefined) return found;
  }
  const items = sequenceItems(object);
  if (
    (items !== null || typeof object === 'string') &&
    (typeof key === 'number' || typeof key === 'boolean')
  ) {
    const index = Number(key);
    const found = typeof object === 'string' ? codePointAt(object, index) : items?.at(index);
    return (
      found ?? (found === null ? null : new Undefined(`${typeName(object)} object has no element ${index}`))
    );
  }
  if (typeof key !== 'string') return new Undefined(`${typeName(object)} object has no such element`);
  if (key.startsWith('_')) return unsafe(object, key);
  const method = methodOf(object, key);
  if (method === undefined) refuse(object, key);
  return method === undefined ? missing(object, key) : method;
}

/** Other values cannot be keys: looking one up gives an undefined value. */
function isHashable(key: Value): boolean {
  return !(key instanceof Undefined || key instanceof Map || key instanceof Namespace || Array.isArray(key));
}

/** Unit of positions in texts: code points. */
export function getSlice(object: Value, parts: readonly (Value | null)[]): Value {
  if (object instanceof Undefined) object.fail();
  const isText = typeof object === 'string';
  if (!isText && sequenceItems(object) === null) {
    throw new TemplateError(`'${typeName(object)}' object cannot be sliced`);
  }
  // A text of plain units is sliced as it is; others are taken apart into characters first.
  const text = isText && isPlain(object) ? object : null;
  const items: ArrayLike<Value> = text ?? (isText ? toCodePoints(object) : sequenceItems(object)!);
  const [startPart, stopPart, stepPart] = parts.map(toIndex) as [number | null, number | null, number | null];
  const step = stepPart ?? 1;
  if (step === 0) throw new TemplateError('slice step cannot be zero');
  const { length } = items;
  const bound = (index: number): number => {
    const from = index < 0 ? index + length : index;
    return step > 0 ? Math.min(Math.max(from, 0), length) : Math.min(Math.max(from, -1), length - 1);
  };
  const start = startPart === null ? (step > 0 ? 0 : length - 1) : bound(startPart);
  const stop = stopPart === null ? (step > 0 ? length : -1) : bound(stopPart);
  if (text !== null && step === 1) return text.slice(start, Math.max(start, stop));
  chargeItems(Math.max(0, Math.ceil((stop - start) / step)));
  const picked: Value[] = [];
  for (let i = start; step > 0 ? i < stop : i > stop; i += step) picked.push(items[i]!);
  if (isText) return picked.join('');
  return object instanceof Tuple ? new Tuple(picked) : picked;
}

function toIndex(part: Value | null): number | null {
  if (part === null) return null;
  const index = typeof part === 'object' ? null : numberOf(part);
  if (index === null) throw new TemplateError('slice indices must be integers or None');
  return index;
}

function methodOf(object: Value, name: string): Value | undefined {
  if (typeof object === 'string') return bind(stringMethods, object, name);
  if (object instanceof Map) return refuseMutator(object, name) ?? bind(dictMethods, object, name);
  if (Array.isArray(object)) return refuseMutator(object, name) ?? bind(listMethods, object, name);
  if (object instanceof Tuple) return bind(listMethods, [...object.items], name);
  if (object instanceof Namespace) return object.attributes.get(name);
  return object instanceof LoopState ? object.attribute(name) : undefined;
}

function bind<T>(
  methods: Readonly<Record<string, (self: T, args: Parameters<Callable['call']>[0]) => Value>>,
  self: T,
  name: string,
): Callable | undefined {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  return method === undefined ? undefined : new Callable(name, args => method(self, args));
}

function refuseMutator(object: Value, name: string): Callable | undefined {
  // A dictionary may well have a key of such a name; only lists are never indexed by text.
  if (
    !MUTATORS.includes(name) ||
    (object instanceof Map && ['append', 'extend', 'insert', 'remove', 'reverse', 'sort'].includes(name))
  ) {
    return undefined;
  }
  return new Callable(name, () => {
    throw new TemplateError(`A template must not change its data: ${typeName(object)}.${name}().`);
  });
}

function refuse(object: Value, name: string): void {
  const type = typeof object === 'boolean' ? 'int' : typeName(object);
  if (REFUSED[type]?.includes(name)) throw new TemplateError(`${type}.${name} is not supported.`);
}

function missing(object: Value, name: string): Undefined {
  return new Undefined(`'${typeName(object)} object' has no attribute '${name}'`);
}

function unsafe(object: Value, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(object)}' object is unsafe.`);
}
