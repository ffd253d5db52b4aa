// Python's values in JavaScript: None is null, an int is a whole number, and types that JavaScript lacks (float, tuple,
// undefined) have a class here. Integers beyond 2^53 are bigints: ids and bounds in tool schemas often are.

import { toCodePoints } from './code-points.ts';
import { countStep } from './meter.ts';
import { TemplateError } from './template-error.ts';

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Value[]
  | Tuple
  | Generator
  | ValueMap
  | Undefined
  | Callable
  | Namespace
  | LoopState;

/** A dictionary; keys are hashable values, and the order is that of insertion. */
export type ValueMap = Map<Value, Value>;

/** A Python float; plain numbers are integers. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class Tuple {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/**
 * The result of filters such as `select` and `map`: truthy even without items, without a length, and empty
 * once it was read. Templates that test one with `if` get what their model was trained with.
 */
export class Generator {
  readonly #items: readonly Value[];
  #taken = 0;

  constructor(items: readonly Value[]) {
    this.#items = items;
  }

  /** Number of items that are not taken yet. */
  get left(): number {
    return this.#items.length - this.#taken;
  }

  /** The next items; fewer at the end. */
  take(count = this.left): readonly Value[] {
    const items = this.#items.slice(this.#taken, this.#taken + count);
    this.#taken += items.length;
    return items;
  }
}

/** A name or attribute that is not there: prints as nothing, fails when it is used. */
export class Undefined {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }

  fail(): never {
    throw new TemplateError(this.problem);
  }
}

export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** A macro, a method or a global function. */
export class Callable {
  readonly name: string;
  readonly call: (args: Arguments) => Value;
  constructor(name: string, call: (args: Arguments) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** The one object a template may change, made by `namespace(...)`. */
export class Namespace {
  readonly attributes = new Map<string, Value>();
}

/** The variable `loop` inside a `for`. */
export class LoopState {
  readonly items: readonly Value[];
  index0 = 0;
  #lastChanged: Value | undefined;

  constructor(items: readonly Value[]) {
    this.items = items;
  }

  attribute(name: string): Value | undefined {
    const { index0, items } = this;
    const { length } = items;
    switch (name) {
      case 'index':
        return index0 + 1;
      case 'index0':
        return index0;
      case 'revindex':
        return length - index0;
      case 'revindex0':
        return length - index0 - 1;
      case 'first':
        return index0 === 0;
      case 'last':
        return index0 === length - 1;
      case 'length':
        return length;
      case 'depth':
        // The depth counts recursive loops only, which are not supported.
        return 1;
      case 'depth0':
        return 0;
      case 'previtem':
        return items[index0 - 1] ?? (index0 > 0 ? null : new Undefined('there is no previous item'));
      case 'nextitem':
        return items[index0 + 1] ?? (index0 < length - 1 ? null : new Undefined('there is no next item'));
      case 'cycle':
        return new Callable('cycle', ({ positional }) => {
          if (positional.length === 0) throw new TemplateError('no items for cycling given');
          return positional[index0 % positional.length]!;
        });
      case 'changed':
        return new Callable('changed', ({ positional }) => {
          const value = new Tuple(positional);
          const hasChanged = this.#lastChanged === undefined || !isEqual(value, this.#lastChanged);
          this.#lastChanged = value;
          return hasChanged;
        });
      default:
        return undefined;
    }
  }
}

/** A JSON value as a template value. Objects become dictionaries. */
export function toValue(json: unknown): Value {
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json;
  // Larger integers come as bigint: such a number was written with a fraction or an exponent.
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : new Float(json);
  // What a float is that has no fraction: JavaScript has one type for both.
  if (json instanceof Number) return new Float(json.valueOf());
  if (typeof json === 'bigint') return Number.isSafeInteger(Number(json)) ? Number(json) : json;
  if (Array.isArray(json)) return json.map(toValue);
  if (json instanceof Callable) return json;
  if (typeof json === 'object') {
    const map: ValueMap = new Map();
    for (const [key, inner] of Object.entries(json)) if (inner !== undefined) map.set(key, toValue(inner));
    return map;
  }
  throw new TemplateError(`A template variable cannot be a ${typeof json}.`);
}

export function isTruthy(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof Float) return value.value !== 0;
  return typeof value === 'object' ? true : Boolean(value);
}

/** Python's name of the value's type, for messages. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  if (typeof value === 'string') return 'str';
  if (value instanceof Float) return 'float';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Map) return 'dict';
  if (value instanceof Generator) return 'generator';
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Callable) return 'function';
  return value instanceof Namespace ? 'Namespace' : 'LoopContext';
}

/**
 * The number behind an int, a float or a bool; null for everything else.
 * Throws: for integers beyond ±(2^53 - 1), which can be shown and compared but not calculated with.
 */
export function numberOf(value: Value): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint')
    throw new TemplateError(`The integer ${value} is too large to calculate with in a template.`);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value instanceof Float ? value.value : null;
}

export function isEqual(left: Value, right: Value): boolean {
  // A list that holds another one twice, which does the same, has exponentially many items.
  countStep();
  if (left === right) return true;
  if (typeof left === 'bigint' || typeof right === 'bigint') return false;
  const a = numberOf(left);
  if (a !== null) return a === numberOf(right);
  if (Array.isArray(left)) return Array.isArray(right) && areEqual(left, right);
  if (left instanceof Tuple) return right instanceof Tuple && areEqual(left.items, right.items);
  if (left instanceof Map) {
    if (!(right instanceof Map) || left.size !== right.size) return false;
    for (const [key, value] of left) {
      const other = right.get(key);
      if (other === undefined || !isEqual(value, other)) return false;
    }
    return true;
  }
  return left instanceof Undefined && right instanceof Undefined;
}

function areEqual(left: readonly Value[], right: readonly Value[]): boolean {
  return left.length === right.length && left.every((item, i) => isEqual(item, right[i]!));
}

/** Negative, zero or positive. Throws for values that have no order. */
export function compareValues(left: Value, right: Value, operator = '<'): number {
  countStep();
  const a = typeof left === 'bigint' ? left : numberOf(left);
  const b = typeof right === 'bigint' ? right : numberOf(right);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a !== null && b !== null) return a < b ? -1 : Number(a > b);
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right);
  const leftItems = sequenceItems(left);
  const rightItems = sequenceItems(right);
  if (leftItems !== null && rightItems !== null && typeName(left) === typeName(right)) {
    for (let i = 0; i < Math.min(leftItems.length, rightItems.length); i++) {
      if (!isEqual(leftItems[i]!, rightItems[i]!))
        return compareValues(leftItems[i]!, rightItems[i]!, operator);
    }
    return leftItems.length - rightItems.length;
  }
  if (left instanceof Undefined) left.fail();
  if (right instanceof Undefined) right.fail();
  throw new TemplateError(
    `'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`,
  );
}

/** By code points, where JavaScript compares UTF-16 units. */
function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const a = toCodePoints(left);
  const b = toCodePoints(right);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = a[i]!.codePointAt(0)! - b[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function sequenceItems(value: Value): readonly Value[] | null {
  if (Array.isArray(value)) return value;
  return value instanceof Tuple ? value.items : null;
}

export function isIterable(value: Value): boolean {
  if (typeof value === 'string' || value instanceof Map || value instanceof Undefined) return true;
  return value instanceof Generator || sequenceItems(value) !== null;
}

/** The items that a `for` iterates over; those of a generator are taken. Throws for values that are not iterable. */
export function iterate(value: Value): readonly Value[] {
  if (typeof value === 'string') return toCodePoints(value);
  if (value instanceof Map) return [...value.keys()];
  if (value instanceof Undefined) return [];
  if (value instanceof Generator) return value.take();
  const items = sequenceItems(value);
  if (items === null) throw new TemplateError(`'${typeName(value)}' object is not iterable`);
  return items;
}

export function toKey(value: Value): Value {
  if (value instanceof Float && Number.isInteger(value.value)) return value.value;
  if (Array.isArray(value) || value instanceof Map)
    throw new TemplateError(`unhashable type: '${typeName(value)}'`);
  if (value instanceof Tuple) throw new TemplateError('A tuple cannot be a key here.');
  return value;
}
