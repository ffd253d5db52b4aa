// Incremental parsing of large JSON in slices, so that the event loop is free in between. A slice is a run of whole items for
// the native parser; only objects and lists that are larger than a slice are assembled here.
// Called by `lossless-json.ts`, which knows how numbers are read and finds the place of a fault.

import { findStringEnd, isName, LONGEST_ESCAPE, readLongString } from './json-strings.ts';

export interface SliceOptions {
  /** How deep objects and lists may be nested. */
  readonly maxDepth: number;
  /** Characters of a slice, unless one of its items is longer. */
  readonly sliceLength: number;
  /** A string of more characters is taken out of its slice, which would be copied with it, and parsed alone, `sliceLength` at a time. */
  readonly longLength: number;
  /** Reads a slice. A reviver puts the strings back that were taken out. */
  readonly parse: (slice: string, revive?: StringReviver) => unknown;
}

export type StringReviver = (text: string) => string;

/** Text that is not acceptable JSON, as a shorter text with the same fault. */
export class SliceFault extends Error {
  override readonly name = 'SliceFault';
  /** Replaces the text ahead of `start`. */
  readonly head: string;
  readonly start: number;

  constructor(head: string, start: number, cause?: unknown) {
    super('fault in JSON', { cause });
    this.head = head;
    this.start = start;
  }
}

/** A bracket past the allowed depth. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
  readonly position: number;

  constructor(position: number) {
    super('nested too deep');
    this.position = position;
  }
}

/**
 * The value of `text`, an object or a list; yields after each slice.
 * Throws: `SliceFault` for what `parse` refuses and for text that is not JSON, `TooDeep`.
 */
export function* readSlices(text: string, options: SliceOptions): Generator<void, unknown> {
  const reader = new SliceReader(text, options);
  try {
    yield* reader.read();
  } catch (error) {
    throw error instanceof TooDeep ? error : reader.toFault(error);
  }
  return reader.root;
}

/** An object or list that is open. */
interface Level {
  readonly isList: boolean;
  /** Null while all of it fits into the slice that is being read. */
  value: unknown[] | Record<string, unknown> | null;
  /** After what has been read: the opening bracket, a comma, or a child that was put together. */
  start: number;
  before: 'opener' | 'comma' | 'child';
  /** The last comma after `start`, or -1. */
  comma: number;
}

class SliceReader {
  readonly #text: string;
  readonly #options: SliceOptions;
  readonly #open: Level[] = [];
  /** Those of the slice that is being read, quotes included; no names. */
  readonly #longStrings: { readonly start: number; readonly end: number; readonly value: string }[] = [];
  root: unknown = null;

  constructor(text: string, options: SliceOptions) {
    this.#text = text;
    this.#options = options;
  }

  *read(): Generator<void, void> {
    const text = this.#text;
    const { sliceLength, longLength } = this.#options;
    let end = sliceLength;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const start = at;
        at = findStringEnd(text, start, longLength);
        if (at - start > longLength) at = yield* this.#readLong(start);
      } else if (code === BRACE || code === BRACKET) this.#enter(code === BRACKET, at);
      else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
        this.#leave(code === CLOSING_BRACKET, at);
        if (this.#open.length > 0) continue;
        this.#expectBlanks(at + 1, text.length);
        return;
      } else if (code === COMMA) {
        this.#passComma(at);
        if (at < end) continue;
        this.#flush();
        end = at + 1 + sliceLength;
        yield;
      }
    }
    throw new SyntaxError('the end is missing');
  }

  /** Gives the position of the closing quote. */
  *#readLong(start: number): Generator<void, number> {
    const pieceLength = Math.max(this.#options.sliceLength, LONGEST_ESCAPE);
    const { value, end } = yield* readLongString(this.#text, start, pieceLength);
    if (!isName(this.#text, end)) this.#longStrings.push({ start, end, value });
    return end - 1;
  }

  #enter(isList: boolean, at: number): void {
    if (this.#open.length === this.#options.maxDepth) throw new TooDeep(at);
    if (this.#open.length === 0) this.#expectBlanks(0, at);
    this.#open.push({ isList, value: null, start: at + 1, before: 'opener', comma: -1 });
  }

  #passComma(at: number): void {
    const level = this.#open.at(-1);
    if (level === undefined) throw new SyntaxError('a comma outside');
    if (level.before !== 'child' || level.comma !== -1) {
      level.comma = at;
      return;
    }
    this.#expectBlanks(level.start, at);
    level.start = at + 1;
    level.before = 'comma';
  }

  #leave(isList: boolean, at: number): void {
    const level = this.#open.at(-1);
    if (level?.isList !== isList) throw new SyntaxError('a bracket of another kind');
    const parent = this.#open.at(-2);
    if (level.value === null && parent !== undefined) {
      this.#open.pop();
      return;
    }
    level.value ??= isList ? [] : {};
    if (level.before === 'child') this.#expectBlanks(level.start, at);
    else this.#addItems(level, at, level.before === 'opener');
    this.#open.pop();
    if (parent === undefined) {
      this.root = level.value;
      return;
    }
    parent.start = at + 1;
    parent.before = 'child';
    parent.comma = -1;
  }

  /** Reads what is whole in every open object and list, and begins those that are not begun. */
  #flush(): void {
    for (const [depth, level] of this.#open.entries()) {
      level.value ??= level.isList ? [] : {};
      if (level.comma !== -1) {
        this.#addItems(level, level.comma, false);
        level.start = level.comma + 1;
        level.before = 'comma';
        level.comma = -1;
      }
      const child = this.#open[depth + 1];
      if (child !== undefined && child.value === null) this.#begin(child, level);
    }
  }

  /** Puts an object or list into its parent before its end is known. */
  #begin(child: Level, parent: Level): void {
    if (parent.before === 'child') throw new SyntaxError('a comma is missing');
    // The blank keeps what is wrongly there apart from the number.
    const lead = `${this.#text.slice(parent.start, child.start - 1)} 0`;
    const [key, ...more] = Object.keys(this.#parseIn(parent, lead));
    if (key === undefined || more.length > 0) throw new SyntaxError('a comma is missing');
    child.value = child.isList ? [] : {};
    if (parent.isList) (parent.value as unknown[]).push(child.value);
    else setKey(parent.value!, key, child.value);
  }

  /** Reads the items of a level up to `end`. */
  #addItems(level: Level, end: number, mayBeNone: boolean): void {
    const items = this.#parseItems(level, end);
    if (level.isList) {
      const list = level.value as unknown[];
      for (const item of items as unknown[]) list.push(item);
      if (!mayBeNone && (items as unknown[]).length === 0) throw new SyntaxError('a value is missing');
      return;
    }
    const keys = Object.keys(items);
    for (const key of keys) setKey(level.value!, key, (items as Readonly<Record<string, unknown>>)[key]);
    if (!mayBeNone && keys.length === 0) throw new SyntaxError('a property is missing');
  }

  #parseItems(level: Level, end: number): object {
    const text = this.#text;
    const inside = this.#longStrings.filter(string => string.start >= level.start && string.end <= end);
    if (inside.length === 0) return this.#parseIn(level, text.slice(level.start, end));
    this.#longStrings.splice(this.#longStrings.indexOf(inside[0]!), inside.length);
    const parts: string[] = [];
    let read = level.start;
    for (const [index, { start, end: stringEnd }] of inside.entries()) {
      parts.push(text.slice(read, start), `"${MARK}${index}"`);
      read = stringEnd;
    }
    parts.push(text.slice(read, end));
    return this.#parseIn(level, parts.join(''), value =>
      value.startsWith(MARK) ? inside[Number(value.slice(MARK.length))]!.value : value,
    );
  }

  #parseIn({ isList }: Level, items: string, revive?: StringReviver): object {
    return this.#options.parse(isList ? `[${items}]` : `{${items}}`, revive) as object;
  }

  #expectBlanks(start: number, end: number): void {
    for (let at = start; at < end; at++)
      if (!' \t\n\r'.includes(this.#text[at]!)) throw new SyntaxError('text between values');
  }

  /** The fault of an error that `read` threw. */
  toFault(cause: unknown): SliceFault {
    const begun = this.#open.filter(({ value }) => value !== null);
    const last = begun.at(-1);
    if (last === undefined) return new SliceFault('', 0, cause);
    const around = begun.slice(0, -1).map(({ isList }) => (isList ? '[' : '{"":'));
    const value = last.isList ? '[]' : '"":[]';
    const lead = { opener: '', comma: `${value},`, child: value }[last.before];
    return new SliceFault(`${around.join('')}${last.isList ? '[' : '{'}${lead}`, last.start, cause);
  }
}

function setKey(target: object, key: string, value: unknown): void {
  // Assigning to this name would set the prototype.
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else (target as Record<string, unknown>)[key] = value;
}

/** Stands for a string that was taken out; its number follows. Random, so that no other string begins with it. */
const MARK = `text ${Math.random()} `;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
