// Methods of Python's str, dict and list that templates may call. A method that is not here is an undefined
// attribute, which fails when it is called.

import { iterateTexts, optionalInteger, requireText } from './arguments.ts';
import { codePointCount, countOccurrences, toCodePoints } from './code-points.ts';
import { formatBraces } from './format.ts';
import { chargeItems, chargeJoin, chargeText } from './meter.ts';
import { TemplateError } from './template-error.ts';
import { type Arguments, isEqual, Tuple, toKey, type Value, type ValueMap } from './values.ts';

type Method<T> = (self: T, args: Arguments) => Value;

/** Python's whitespace; JavaScript's differs in a few characters. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\p{Z}]';
const SPACES = new RegExp(`${SPACE}+`, 'u');

/** Python's line ends. */
const ENDS = '\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINES = new RegExp(`[^${ENDS}]*(?:\\r\\n|[${ENDS}]|$)`, 'g');
const ANY_END = new RegExp(`[${ENDS}]`, 'g');
const LINE_END = new RegExp(`(?:\\r\\n|[${ENDS}])$`);

export const stringMethods: Readonly<Record<string, Method<string>>> = {
  upper: self => self.toUpperCase(),
  lower: self => self.toLowerCase(),
  casefold: self => self.toLowerCase(),
  title: self => titleCase(self),
  capitalize: self => capitalize(self),
  swapcase: self =>
    toCodePoints(self)
      .map(character => {
        const upper = character.toUpperCase();
        return character === upper ? character.toLowerCase() : upper;
      })
      .join(''),
  strip: (self, args) => strip(self, args, true, true),
  lstrip: (self, args) => strip(self, args, true, false),
  rstrip: (self, args) => strip(self, args, false, true),
  split: (self, args) => split(self, args, false),
  rsplit: (self, args) => split(self, args, true),
  splitlines: (self, args) =>
    splitLines(self, (args.positional[0] ?? args.named.get('keepends') ?? false) === true),
  startswith: (self, args) => {
    const { text } = span(self, args);
    return affixes(args).some(affix => text?.startsWith(affix));
  },
  endswith: (self, args) => {
    const { text } = span(self, args);
    return affixes(args).some(affix => text?.endsWith(affix));
  },
  replace: (self, args) => {
    const [from, to] = [requireText(args, 0, 'old'), requireText(args, 1, 'new')];
    const count = optionalInteger(args, 2, 'count') ?? -1;
    return replaceText(self, from, to, count);
  },
  find: (self, args) => find(self, args, false),
  rfind: (self, args) => find(self, args, true),
  index: (self, args) => orNotFound(find(self, args, false)),
  rindex: (self, args) => orNotFound(find(self, args, true)),
  count: (self, args) => {
    const part = requireText(args, 0, 'sub');
    const { text } = span(self, args);
    if (text === null) return 0;
    return part === '' ? codePointCount(text) + 1 : countOccurrences(text, part);
  },
  join: (self, args) => {
    const texts = iterateTexts(args);
    chargeJoin(texts, self.length);
    return texts.join(self);
  },
  format: (self, args) => formatBraces(self, args),
  removeprefix: (self, args) => {
    const prefix = requireText(args, 0, 'prefix');
    return self.startsWith(prefix) ? self.slice(prefix.length) : self;
  },
  removesuffix: (self, args) => {
    const suffix = requireText(args, 0, 'suffix');
    return suffix !== '' && self.endsWith(suffix) ? self.slice(0, -suffix.length) : self;
  },
  partition: (self, args) => {
    const separator = requireText(args, 0, 'sep');
    const at = self.indexOf(separator);
    if (at === -1) return new Tuple([self, '', '']);
    return new Tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
  },
  rpartition: (self, args) => {
    const separator = requireText(args, 0, 'sep');
    const at = self.lastIndexOf(separator);
    if (at === -1) return new Tuple(['', '', self]);
    return new Tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
  },
  isdigit: self => /^\p{Nd}+$/u.test(self),
  isalpha: self => /^\p{L}+$/u.test(self),
  isalnum: self => /^[\p{L}\p{N}]+$/u.test(self),
  isspace: self => new RegExp(`^${SPACE}+$`, 'u').test(self),
  isupper: self => self === self.toUpperCase() && self !== self.toLowerCase(),
  islower: self => self === self.toLowerCase() && self !== self.toUpperCase(),
};

export const dictMethods: Readonly<Record<string, Method<ValueMap>>> = {
  get: (self, { positional }) => {
    const [key, fallback] = positional;
    if (key === undefined) throw new TemplateError('get expected at least 1 argument, got 0');
    const found = self.get(toKey(key));
    return found === undefined ? (fallback ?? null) : found;
  },
  items: self => [...self].map(entry => new Tuple(entry)),
  keys: self => [...self.keys()],
  values: self => [...self.values()],
  copy: self => new Map(self),
};

export const listMethods: Readonly<Record<string, Method<Value[]>>> = {
  index: (self, { positional }) => {
    const index = self.findIndex(item => isEqual(item, positional[0]!));
    if (index === -1) throw new TemplateError('the value is not in the list');
    return index;
  },
  count: (self, { positional }) => self.filter(item => isEqual(item, positional[0]!)).length,
  copy: self => [...self],
};

/** First letter large, the rest small. */
export function capitalize(text: string): string {
  const first = text === '' ? '' : String.fromCodePoint(text.codePointAt(0)!);
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/**
 * The text with each match of the pattern changed. Matches are found one by one: `replace` and `split` would
 * list millions of them before one could be charged.
 */
export function mapPieces(text: string, pattern: RegExp, change: (piece: string) => string): string {
  const pieces: string[] = [];
  for (const [piece] of text.matchAll(pattern)) {
    chargeItems(1);
    pieces.push(change(piece));
  }
  return pieces.join('');
}

/** At most `count` replacements; all for a negative count. */
export function replaceText(text: string, from: string, to: string, count: number): string {
  chargeText(text.length + countOccurrences(text, from) * to.length);
  if (count < 0)
    return from === ''
      ? toCodePoints(text)
          .map(each => to + each)
          .join('') + to
      : text.replaceAll(from, () => to);
  let out = '';
  let at = 0;
  for (let done = 0; done < count; done++) {
    if (from === '') {
      if (at > text.length) break;
      const next = text.slice(at, at + 1);
      out += to + next;
      at += 1;
      continue;
    }
    const found = text.indexOf(from, at);
    if (found === -1) break;
    out += text.slice(at, found) + to;
    at = found + from.length;
  }
  return out + text.slice(at);
}

export function stripText(text: string, characters: string | null, left: boolean, right: boolean): string {
  const set = characters === null ? null : new Set(characters);
  const isStripped = (unit: string): boolean => (set === null ? SPACES.test(unit) : set.has(unit));
  let start = 0;
  let end = text.length;
  while (left && start < end) {
    const unit = String.fromCodePoint(text.codePointAt(start)!);
    if (!isStripped(unit)) break;
    start += unit.length;
  }
  while (right && end > start) {
    const isPair = /[\udc00-\udfff]/.test(text[end - 1]!) && /[\ud800-\udbff]/.test(text[end - 2] ?? '');
    const unit = text.slice(isPair ? end - 2 : end - 1, end);
    if (!isStripped(unit)) break;
    end -= unit.length;
  }
  return text.slice(start, end);
}

function strip(self: string, args: Arguments, left: boolean, right: boolean): string {
  const characters = args.positional[0] ?? null;
  if (characters !== null && typeof characters !== 'string')
    throw new TemplateError('strip arg must be None or str');
  return stripText(self, characters, left, right);
}

function split(self: string, args: Arguments, fromRight: boolean): Value[] {
  const separator = args.positional[0] ?? args.named.get('sep') ?? null;
  const limit = optionalInteger(args, 1, 'maxsplit') ?? -1;
  if (separator === '') throw new TemplateError('empty separator');
  if (separator !== null && typeof separator !== 'string')
    throw new TemplateError('must be str or None as separator');
  if (separator === null) return splitSpaces(self, limit, fromRight);
  chargeItems(countOccurrences(self, separator) + 1);
  const parts = self.split(separator);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  if (fromRight) {
    const kept = parts.length - limit;
    return [parts.slice(0, kept).join(separator), ...parts.slice(kept)];
  }
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

function splitSpaces(self: string, limit: number, fromRight: boolean): Value[] {
  if (fromRight && limit >= 0) throw new TemplateError('rsplit with maxsplit needs a separator here.');
  let rest = stripText(self, null, true, false);
  const parts: string[] = [];
  while (rest !== '') {
    chargeItems(1);
    const space = SPACES.exec(rest);
    if (space === null || (limit >= 0 && parts.length === limit)) {
      parts.push(rest);
      break;
    }
    parts.push(rest.slice(0, space.index));
    rest = rest.slice(space.index + space[0].length);
  }
  return parts;
}

/** The lines of a text, at all of Python's line ends. */
export function splitLines(self: string, keepEnds: boolean): string[] {
  chargeItems(self.matchAll(ANY_END).reduce(count => count + 1, 1));
  const lines = (self.match(LINES) ?? []).filter(line => line !== '');
  return keepEnds ? lines : lines.map(line => line.replace(LINE_END, ''));
}

function affixes(args: Arguments): string[] {
  const [first] = args.positional;
  const list = first instanceof Tuple ? first.items : [first];
  return list.map(item => {
    if (typeof item !== 'string')
      throw new TemplateError('startswith and endswith take a str or a tuple of str');
    return item;
  });
}

function titleCase(text: string): string {
  return mapPieces(text, /\p{L}+|\P{L}+/gu, piece => (/^\p{L}/u.test(piece) ? capitalize(piece) : piece));
}

/** Position of a part within the bounds that are given. Unit: code points, as Python counts; -1 for none. */
function find(self: string, args: Arguments, fromRight: boolean): number {
  const part = requireText(args, 0, 'sub');
  const { text, start } = span(self, args);
  const index = fromRight ? text?.lastIndexOf(part) : text?.indexOf(part);
  if (text === null || index === undefined || index === -1) return -1;
  return start + codePointCount(text.slice(0, index));
}

function orNotFound(index: number): number {
  if (index === -1) throw new TemplateError('substring not found');
  return index;
}

/** The part of a text between the second and third argument of its method; null if it begins after the end. */
function span(self: string, args: Arguments): { text: string | null; start: number } {
  const [from, to] = [optionalInteger(args, 1, 'start') ?? 0, optionalInteger(args, 2, 'end')];
  if (from === 0 && to === undefined) return { text: self, start: 0 };
  const units = toCodePoints(self);
  const { length } = units;
  const position = (index: number) => (index < 0 ? Math.max(0, index + length) : index);
  const start = position(from);
  const end = Math.min(position(to ?? length), length);
  const text = start > end ? null : units.slice(start, end).join('');
  return { text, start };
}
