// A matcher for JSON answers that also keeps their form: layout, length of numbers, and the repetition guard. llguidance has
// none of them, so its masks are narrowed here. Where a form leaves nothing of a mask, the grammar alone decides: a form
// never ends an answer.
//
// Repetition guard: where the text of a string repeats itself (`repetition.ts`) and the grammar lets the string end, the
// tokens that begin with the next byte of the repetition are taken out of the mask. Where it repeats itself again within
// 256 bytes, only tokens remain that end the string. Where the last members of a list or object repeat themselves and it may
// end, no further comma is allowed.

import type { ConstraintMatcher } from '../constraint.ts';
import type { JsonForm } from '../json-form.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  type GrammarFacts,
  isSpace,
  JsonReader,
  QUOTE,
  READER_START,
  type ReaderState,
} from './json-reader.ts';
import type { JsonTokens, StringEnds } from './json-tokens.ts';
import { NumberLength } from './number-length.ts';
import { findRepeatedUnit, isMemberUnit, LONGEST_UNIT } from './repetition.ts';

/** State behind one token. */
interface Position {
  /** Before the token; null at the start. */
  readonly previous: Position | null;
  readonly reader: ReaderState;
  readonly isEscaped: boolean;
  /** Bytes of the answer. */
  readonly length: number;
  /** Where the text of the open string begins. */
  readonly stringStart: number;
  /** Where the open string last repeated itself. */
  readonly repeatedAt: number | null;
}

/** The first bytes of a token, behind which a line ends, and the bracket that must be able to follow them. */
interface CloseQuestion {
  readonly textLength: number;
  readonly bracket: number;
}

/** The repetition of a string that may end here. */
interface StringRepetition {
  readonly nextByte: number;
  readonly mustEnd: boolean;
}

const START: Position = {
  previous: null,
  reader: READER_START,
  isEscaped: false,
  length: 0,
  stringStart: 0,
  repeatedAt: null,
};
/** A repetition so soon after another one ends the string. Unit: bytes. */
const REPEATED_SOON = 256;
/** Most bytes that a token adds to a repetition before its comma; a longer one is seen with the next comma. */
const TOKEN_BYTES = 32;
/** From so many digits on, one token may bring a number to its limit. */
const DIGITS_NEAR_LIMIT = 8;

export class JsonFormMatcher implements ConstraintMatcher {
  readonly #inner: ConstraintMatcher;
  readonly #tokens: JsonTokens;
  readonly #form: JsonForm;
  readonly #reader: JsonReader;
  #position: Position;
  /** Texts and whether the grammar allows them, at one position. */
  #allowedTexts: { readonly at: Position; readonly known: Map<string, boolean> } | null = null;
  /** The answer, and behind it room for a token. */
  #bytes: Uint8Array;

  /** Owns `inner`, which is at the start of an answer, or where that of `source` is. */
  constructor(inner: ConstraintMatcher, tokens: JsonTokens, form: JsonForm, source?: JsonFormMatcher) {
    this.#inner = inner;
    this.#tokens = tokens;
    this.#form = form;
    this.#reader = new JsonReader(form);
    this.#position = source === undefined ? START : source.#position;
    this.#bytes = source === undefined ? new Uint8Array(1024) : source.#bytes.slice();
  }

  fillMask(mask: Uint32Array): void {
    this.#inner.fillMask(mask);
    const { scratch } = this.#tokens;
    scratch.set(mask);
    if (this.#reads(this.#position).isInString) this.#narrowInString(mask);
    else this.#narrowOutside(mask);
    if (!isEmpty(mask)) return;
    mask.set(scratch);
    this.#tokens.removeSpaced(mask);
    if (isEmpty(mask)) mask.set(scratch);
  }

  accept(tokenId: number): boolean {
    if (this.#tokens.isEnd(tokenId)) {
      if (!this.#inner.accept(tokenId)) return false;
      this.#position = { ...this.#position, previous: this.#position };
      return true;
    }
    const next = this.#next(tokenId);
    if (next === null || !this.#inner.accept(tokenId)) return false;
    this.#writeToken(tokenId);
    this.#position = next;
    return true;
  }

  countFitting(tokenIds: readonly number[]): number {
    const fitting = this.#inner.countFitting(tokenIds);
    if (fitting === 0) return 0;
    if (fitting === 1) return this.#tokens.isEnd(tokenIds[0]!) || this.#next(tokenIds[0]!) !== null ? 1 : 0;
    const ahead = this.fork();
    let count = 0;
    while (count < fitting && ahead.accept(tokenIds[count]!)) count++;
    ahead.dispose();
    return count;
  }

  canStop(): boolean {
    return this.#inner.canStop();
  }

  mustStop(): boolean {
    return this.#inner.mustStop();
  }

  fork(): JsonFormMatcher {
    return new JsonFormMatcher(this.#inner.fork(), this.#tokens, this.#form, this);
  }

  rollback(count: number): void {
    this.#inner.rollback(count);
    for (let i = 0; i < count; i++) this.#position = this.#position.previous!;
  }

  dispose(): void {
    this.#inner.dispose();
  }

  /** The position behind a token that the grammar allows, or null where the form does not allow it. */
  #next(tokenId: number): Position | null {
    const repetition = this.#findStringRepetition();
    const facts = this.#findFacts();
    if (this.#mayFollow(tokenId, facts, repetition)) return this.#advance(tokenId, facts, repetition);
    const mask = new Uint32Array(this.#tokens.wordCount);
    this.fillMask(mask);
    if (!hasBit(mask, tokenId)) return null;
    return this.#advance(tokenId, facts, repetition);
  }

  #mayFollow(tokenId: number, facts: GrammarFacts, repetition: StringRepetition | null): boolean {
    if (repetition !== null) {
      if (this.#tokens.firstByte(tokenId) === repetition.nextByte) return false;
      if (repetition.mustEnd && !this.#endsString(tokenId)) return false;
    }
    return this.#fits(tokenId, facts, this.#mayRepeatMembers());
  }

  /** The position behind a token, whether it fits the form or not. */
  #advance(tokenId: number, facts: GrammarFacts, repetition: StringRepetition | null): Position {
    const previous = this.#position;
    const { bytes, offsets } = this.#tokens.vocabulary;
    const reader = this.#reads(previous, facts, true);
    let { stringStart } = previous;
    let isSameString = reader.isInString;
    for (let i = offsets[tokenId]!; i < offsets[tokenId + 1]!; i++) {
      const wasInString = reader.isInString;
      reader.read(bytes[i]!);
      if (!reader.isInString) isSameString = false;
      else if (!wasInString) stringStart = previous.length + i + 1 - offsets[tokenId]!;
    }
    const repeatedAt = repetition === null ? previous.repeatedAt : previous.length;
    return {
      previous,
      reader: reader.save(),
      isEscaped: reader.isEscaped,
      length: previous.length + offsets[tokenId + 1]! - offsets[tokenId]!,
      stringStart,
      repeatedAt: isSameString ? repeatedAt : null,
    };
  }

  #narrowOutside(mask: Uint32Array): void {
    const facts = this.#findFacts();
    const mayRepeat = this.#mayRepeatMembers();
    keepTokens(mask, id => this.#tokens.isEnd(id) || this.#fits(id, facts, mayRepeat));
  }

  #narrowInString(mask: Uint32Array): void {
    const { quoted } = this.#tokens;
    const mayRepeat = this.#mayRepeatMembers();
    if (this.#position.isEscaped || mayRepeat) {
      for (const id of quoted)
        if (hasBit(mask, id) && !this.#fits(id, UNKNOWN, mayRepeat)) clearBit(mask, id);
    } else {
      const { refused, asking } = this.#findEnds();
      for (const id of refused) clearBit(mask, id);
      for (const [text, ids] of asking)
        if (!this.#grammarAllowsText(text)) for (const id of ids) clearBit(mask, id);
    }
    const repetition = this.#findStringRepetition();
    if (repetition === null) return;
    const { nextByte, mustEnd } = repetition;
    keepTokens(mask, id => this.#tokens.firstByte(id) !== nextByte && (!mustEnd || this.#endsString(id)));
  }

  /** Tokens that end the string and are not free of the form behind it: the same ones all through a string. */
  #findEnds(): StringEnds {
    const { quoted } = this.#tokens;
    const { reader } = this.#position;
    const { layout } = this.#form;
    const known = this.#tokens.getStringEnds(reader, layout);
    if (known !== undefined) return known;
    const ends = { refused: [] as number[], asking: new Map<string, number[]>() };
    for (const id of quoted) {
      const verdict = this.#judge(id, UNKNOWN, false);
      if (verdict === 'breaks') ends.refused.push(id);
      else if (verdict !== 'fits') {
        const text = this.#textOf(id, verdict);
        const ids = ends.asking.get(text);
        if (ids === undefined) ends.asking.set(text, [id]);
        else ids.push(id);
      }
    }
    this.#tokens.setStringEnds(reader, layout, ends);
    return ends;
  }

  #fits(tokenId: number, facts: GrammarFacts | null, mayRepeat: boolean): boolean {
    const verdict = this.#judge(tokenId, facts, mayRepeat);
    return typeof verdict === 'object'
      ? this.#grammarAllowsText(this.#textOf(tokenId, verdict))
      : verdict === 'fits';
  }

  /**
   * Whether the form allows a token of text; a question where that depends on what the grammar allows behind a part of it.
   * `mayRepeat`: a comma in it may continue repeated members.
   */
  #judge(tokenId: number, facts: GrammarFacts | null, mayRepeat: boolean): 'fits' | 'breaks' | CloseQuestion {
    const { reader, isEscaped, length } = this.#position;
    const isString = reader.place === 'text' || reader.place === 'key';
    if (isString && !this.#tokens.changesString(tokenId)) return 'fits';
    const { bytes, offsets } = this.#tokens.vocabulary;
    const [start, end] = [offsets[tokenId]!, offsets[tokenId + 1]!];
    if (mayRepeat) this.#writeToken(tokenId);
    this.#reader.load(reader, isEscaped, facts);
    let isFirst = true;
    let question: CloseQuestion | null = null;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      if (byte === COMMA && mayRepeat && !this.#reader.isInString) {
        // Behind the first part it is not known whether the list or object may end; the shorter token tells.
        const mayEnd = isFirst ? facts?.mayClose === true : true;
        if (mayEnd && this.#hasRepeatedMembers(length + i - start)) return 'breaks';
      }
      if (!this.#reader.read(byte)) return 'breaks';
      if (!isSpace(byte)) isFirst = false;
      const { neededBracket } = this.#reader;
      if (neededBracket === null) question = null;
      else question ??= { textLength: i - start, bracket: neededBracket };
    }
    return question ?? 'fits';
  }

  /** The beginning of a token with the bracket behind it, a character for each byte. */
  #textOf(tokenId: number, { textLength, bracket }: CloseQuestion): string {
    const { bytes, offsets } = this.#tokens.vocabulary;
    const start = offsets[tokenId]!;
    return String.fromCharCode(...bytes.subarray(start, start + textLength), bracket);
  }

  /** Whether the grammar allows a text at this position, written in tokens of one byte. */
  #grammarAllowsText(text: string): boolean {
    if (this.#allowedTexts?.at !== this.#position)
      this.#allowedTexts = { at: this.#position, known: new Map() };
    const { known } = this.#allowedTexts;
    let isAllowed = known.get(text);
    if (isAllowed === undefined) {
      const ids = Array.from(text, character => this.#tokens.ofByte(character.charCodeAt(0)) ?? -1);
      isAllowed = ids.includes(-1) || this.#inner.countFitting(ids) === ids.length;
      known.set(text, isAllowed);
    }
    return isAllowed;
  }

  #endsString(tokenId: number): boolean {
    const { bytes, offsets } = this.#tokens.vocabulary;
    if (!this.#tokens.changesString(tokenId)) return false;
    const reader = this.#reads(this.#position);
    for (let i = offsets[tokenId]!; i < offsets[tokenId + 1]!; i++) {
      reader.read(bytes[i]!);
      if (!reader.isInString) return true;
    }
    return false;
  }

  #findStringRepetition(): StringRepetition | null {
    const { reader, isEscaped, length, stringStart, repeatedAt } = this.#position;
    const isString = reader.place === 'text' || reader.place === 'key';
    if (!isString || isEscaped || !this.#form.guardsRepetition) return null;
    const unit = findRepeatedUnit(this.#bytes, stringStart, length);
    if (unit === 0 || !this.#grammarAllows(QUOTE)) return null;
    const mustEnd = repeatedAt !== null && length - repeatedAt <= REPEATED_SOON;
    return { nextByte: this.#bytes[length - unit]!, mustEnd };
  }

  /** Whether a token may bring the end of repeated members. */
  #mayRepeatMembers(): boolean {
    const { length } = this.#position;
    return (
      this.#form.guardsRepetition &&
      findRepeatedUnit(this.#bytes, windowStart(length), length, TOKEN_BYTES) > 0
    );
  }

  #hasRepeatedMembers(end: number): boolean {
    const unit = findRepeatedUnit(this.#bytes, windowStart(end), end);
    return unit > 0 && isMemberUnit(this.#bytes, unit, end);
  }

  #findFacts(): GrammarFacts {
    const { place, frame, gap, number } = this.#position.reader;
    const isBehindValue = place === 'value-end' || place === 'number' || place === 'word';
    const asksClose = isBehindValue && frame !== null && gap.lineEnds === 0;
    const needsClose = this.#form.guardsRepetition || this.#form.layout === 'canonical';
    const mayClose =
      asksClose && needsClose ? this.#grammarAllows(frame.isObject ? CLOSE_OBJECT : CLOSE_LIST) : true;
    return { mayClose, isReal: place === 'number' && this.#isReal(number) };
  }

  #isReal(saved: number): boolean {
    if (this.#form.numbers === null) return false;
    const number = new NumberLength();
    number.restore(saved);
    return number.isInteger && number.digits >= DIGITS_NEAR_LIMIT && this.#grammarAllows(0x2e);
  }

  #grammarAllows(byte: number): boolean {
    const tokenId = this.#tokens.ofByte(byte);
    return tokenId === undefined || this.#inner.countFitting([tokenId]) === 1;
  }

  /** The reader at a position. */
  #reads({ reader, isEscaped }: Position, facts: GrammarFacts | null = null, isLenient = false): JsonReader {
    this.#reader.load(reader, isEscaped, facts, isLenient);
    return this.#reader;
  }

  /** Mutates: writes the bytes of a token behind the answer. */
  #writeToken(tokenId: number): void {
    const { bytes, offsets } = this.#tokens.vocabulary;
    const text = bytes.subarray(offsets[tokenId], offsets[tokenId + 1]);
    const { length } = this.#position;
    if (length + text.length > this.#bytes.length) {
      const wider = new Uint8Array(2 * (length + text.length));
      wider.set(this.#bytes);
      this.#bytes = wider;
    }
    this.#bytes.set(text, length);
  }
}

/** Facts of the grammar behind a string, while the string is open. */
const UNKNOWN = null;

/** Where a repetition that ends at `end` can begin. */
function windowStart(end: number): number {
  return Math.max(0, end - 3 * LONGEST_UNIT);
}

/** Mutates: takes the tokens out of `mask` that `isKept` refuses. */
function keepTokens(mask: Uint32Array, isKept: (tokenId: number) => boolean): void {
  for (let word = 0; word < mask.length; word++)
    for (let bits = mask[word]!; bits !== 0; bits &= bits - 1) {
      const id = word * 32 + 31 - Math.clz32(bits & -bits);
      if (!isKept(id)) clearBit(mask, id);
    }
}

function hasBit(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}

/** Mutates: `mask`. */
function clearBit(mask: Uint32Array, id: number): void {
  mask[id >>> 5]! &= ~(1 << (id & 31));
}

function isEmpty(mask: Uint32Array): boolean {
  for (let word = 0; word < mask.length; word++) if (mask[word] !== 0) return false;
  return true;
}
