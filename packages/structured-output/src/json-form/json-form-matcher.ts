// A matcher for answers with JSON that also keeps its form: layout, spelling of names, length of numbers, and the repetition
// guard. llguidance has none of them, so its masks are narrowed here. Where a form leaves nothing of a mask, the grammar alone
// decides: a form never ends an answer.
//
// Repetition guard: where the text of a string repeats itself (`repetition.ts`) and the grammar lets the string end, the
// tokens that begin with the next byte of the repetition are taken out of the mask. Where it repeats itself again within
// 256 bytes, only tokens remain that end the string. Where the last members of a list or object repeat themselves and it may
// end, no further comma is allowed. Plain text of an argument ends with a mark: where it must end, tokens remain that bring it on.
// After a call that was made before in the same answer, there is no further call.

import type { ConstraintMatcher } from '../constraint.ts';
import type { JsonForm } from '../json-form.ts';
import { type AnswerPosition, type CompleteCall, completeCall, startPosition } from './answer-position.ts';
import { AnswerText } from './answer-text.ts';
import { GrammarProbe } from './grammar-probe.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  type GrammarFacts,
  isSpace,
  JsonReader,
  QUOTE,
  readerStart,
} from './json-reader.ts';
import type { JsonTokens, StringEnds } from './json-tokens.ts';
import { clearBit, hasBit, isEmpty, keepTokens } from './mask-bits.ts';
import { NumberLength } from './number-length.ts';
import { findRepeatedUnit, isMemberUnit, windowStart } from './repetition.ts';
import type { ShapeAutomaton, TextValue } from './shape-automaton.ts';

/** The first bytes of a token, after which a line ends, and the bracket that must be able to follow them. */
interface CloseQuestion {
  readonly textLength: number;
  readonly bracket: number;
}

/** The repetition of a string that may end here. */
interface StringRepetition {
  /** Undefined: where it may go on does not matter any more. */
  readonly nextByte: number | undefined;
  readonly mustEnd: boolean;
}

/** A repetition so soon after another one ends the string. Unit: bytes. */
const REPEATED_SOON = 256;
/** Maximum number of bytes that a token adds to a repetition before its comma; a longer one is seen with the next comma. */
const TOKEN_BYTES = 32;
/** From this many digits on, one token may bring a number to its limit. */
const DIGITS_NEAR_LIMIT = 8;

export class JsonFormMatcher implements ConstraintMatcher {
  readonly #inner: ConstraintMatcher;
  readonly #tokens: JsonTokens;
  readonly #form: JsonForm;
  readonly #shape: ShapeAutomaton | null;
  readonly #reader: JsonReader;
  #position: AnswerPosition;
  readonly #grammar: GrammarProbe;
  readonly #text: AnswerText;

  /** Owns `inner`, which is at the start of an answer, or where that of `source` is. */
  constructor(inner: ConstraintMatcher, tokens: JsonTokens, form: JsonForm, source?: JsonFormMatcher) {
    this.#inner = inner;
    this.#tokens = tokens;
    this.#form = form;
    this.#shape = source === undefined ? tokens.shapeOf(form) : source.#shape;
    this.#reader = new JsonReader(form, this.#shape);
    const start = readerStart(this.#shape?.start ?? null);
    this.#position = source === undefined ? startPosition(start) : source.#position;
    this.#grammar = new GrammarProbe(inner, tokens);
    this.#text = source === undefined ? new AnswerText() : source.#text.copy();
  }

  fillMask(mask: Uint32Array): void {
    this.#inner.fillMask(mask);
    const { scratch } = this.#tokens;
    scratch.set(mask);
    const { isInString, marks } = this.#reads(this.#position);
    if (isInString) this.#narrowInString(mask);
    else if (marks?.isText === true) this.#narrowRepetition(mask);
    else this.#narrowOutside(mask);
    if (!isEmpty(mask)) return;
    mask.set(scratch);
    if (marks !== null) return;
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

  /** The position after a token that the grammar allows, or null where the form does not allow it. */
  #next(tokenId: number): AnswerPosition | null {
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
    if (this.#reads(this.#position).marks?.isText === true) return true;
    return this.#fits(tokenId, facts, this.#mayRepeatMembers());
  }

  /** The position after a token, whether it fits the form or not. */
  #advance(tokenId: number, facts: GrammarFacts, repetition: StringRepetition | null): AnswerPosition {
    const previous = this.#position;
    const { bytes, offsets } = this.#tokens.vocabulary;
    const reader = this.#reads(previous, facts, true);
    let { stringStart, call } = previous;
    let place = reader.textPlace;
    let isSameString = place !== null;
    for (let i = offsets[tokenId]!; i < offsets[tokenId + 1]!; i++) {
      if (call?.repeats === true) reader.endCalls();
      reader.read(bytes[i]!);
      const end = previous.length + i + 1 - offsets[tokenId]!;
      const next = reader.textPlace;
      if (next !== place) {
        isSameString = false;
        stringStart = end;
      }
      place = next;
      call = this.#callAt(tokenId, end, call);
    }
    const repeatedAt = repetition === null ? previous.repeatedAt : previous.length;
    return {
      previous,
      reader: reader.save(),
      isEscaped: reader.isEscaped,
      length: previous.length + offsets[tokenId + 1]! - offsets[tokenId]!,
      stringStart,
      repeatedAt: isSameString ? repeatedAt : null,
      mustEnd: isSameString && reader.marks !== null && (previous.mustEnd || repetition?.mustEnd === true),
      call,
    };
  }

  #narrowOutside(mask: Uint32Array): void {
    const facts = this.#findFacts();
    const mayRepeat = this.#mayRepeatMembers();
    keepTokens(mask, id => this.#tokens.isEnd(id) || this.#fits(id, facts, mayRepeat));
  }

  #narrowInString(mask: Uint32Array): void {
    const mayRepeat = this.#mayRepeatMembers();
    if (this.#isEscapedName) keepTokens(mask, id => this.#fits(id, UNKNOWN, mayRepeat));
    else if (this.#position.isEscaped || mayRepeat) {
      for (const id of this.#tokens.stringChanges(this.#position.reader))
        if (hasBit(mask, id) && !this.#fits(id, UNKNOWN, mayRepeat)) clearBit(mask, id);
    } else {
      const { refused, asking } = this.#findEnds();
      for (const id of refused) clearBit(mask, id);
      for (const [text, ids] of asking)
        if (!this.#grammar.allowsText(text, this.#position)) for (const id of ids) clearBit(mask, id);
    }
    this.#narrowRepetition(mask);
  }

  #narrowRepetition(mask: Uint32Array): void {
    const repetition = this.#findStringRepetition();
    if (repetition === null) return;
    const { nextByte, mustEnd } = repetition;
    keepTokens(mask, id => this.#tokens.firstByte(id) !== nextByte && (!mustEnd || this.#endsString(id)));
  }

  /** Any token decides what is escaped. */
  get #isEscapedName(): boolean {
    return this.#position.isEscaped && this.#position.reader.place === 'key';
  }

  /** Tokens that end the string and are not free of the form after it: the same ones all through a string. */
  #findEnds(): StringEnds {
    const { reader } = this.#position;
    const { layout } = this.#form;
    const known = this.#tokens.getStringEnds(reader, layout);
    if (known !== undefined) return known;
    const ends = { refused: [] as number[], asking: new Map<string, number[]>() };
    for (const id of this.#tokens.stringChanges(reader)) {
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
      ? this.#grammar.allowsText(this.#textOf(tokenId, verdict), this.#position)
      : verdict === 'fits';
  }

  /**
   * Whether the form allows a token of text; a question where that depends on what the grammar allows after a part of it.
   * `mayRepeat`: a comma in it may continue repeated members.
   */
  #judge(tokenId: number, facts: GrammarFacts | null, mayRepeat: boolean): 'fits' | 'breaks' | CloseQuestion {
    const { reader, isEscaped, length } = this.#position;
    const isString = reader.place === 'text' || reader.place === 'key';
    if (isString && !this.#tokens.changesString(tokenId) && !this.#isEscapedName) return 'fits';
    const { bytes, offsets } = this.#tokens.vocabulary;
    const [start, end] = [offsets[tokenId]!, offsets[tokenId + 1]!];
    if (mayRepeat) this.#writeToken(tokenId);
    this.#reader.load(reader, isEscaped, facts);
    let isFirst = true;
    let { call } = this.#position;
    let question: CloseQuestion | null = null;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      if (byte === COMMA && mayRepeat && !this.#reader.isInString && this.#reader.marks === null) {
        // After the first part it is not known whether the list or object may end; the shorter token tells.
        const mayEnd = isFirst ? facts?.mayClose === true : true;
        if (mayEnd && this.#hasRepeatedMembers(length + i - start)) return 'breaks';
      }
      if (call?.repeats === true) this.#reader.endCalls();
      if (!this.#reader.read(byte)) return 'breaks';
      call = this.#callAt(tokenId, length + i + 1 - start, call);
      if (!isSpace(byte)) isFirst = false;
      const { neededBracket } = this.#reader;
      if (neededBracket === null) question = null;
      else question ??= { textLength: i - start, bracket: neededBracket };
    }
    return question ?? 'fits';
  }

  /** The beginning of a token with the bracket after it, a character for each byte. */
  #textOf(tokenId: number, { textLength, bracket }: CloseQuestion): string {
    const { bytes, offsets } = this.#tokens.vocabulary;
    const start = offsets[tokenId]!;
    return String.fromCharCode(...bytes.subarray(start, start + textLength), bracket);
  }

  #endsString(tokenId: number): boolean {
    const { bytes, offsets } = this.#tokens.vocabulary;
    const reader = this.#reads(this.#position);
    const value = reader.marks?.value ?? null;
    if (value === null && !this.#tokens.changesString(tokenId)) return false;
    for (let i = offsets[tokenId]!; i < offsets[tokenId + 1]!; i++) {
      reader.read(bytes[i]!);
      if (value === null ? !reader.isInString : reader.marks?.value?.place !== value.place) return true;
    }
    return value !== null && reader.marks!.value!.readLength > value.readLength;
  }

  #findStringRepetition(): StringRepetition | null {
    const { reader, isEscaped, length, stringStart, repeatedAt } = this.#position;
    const isString = reader.place === 'text' || reader.place === 'key';
    const value = reader.place === 'marks' ? (reader.node?.value ?? null) : null;
    if (!(isString || value !== null) || isEscaped || !this.#form.guardsRepetition) return null;
    if (this.#position.mustEnd) return { nextByte: undefined, mustEnd: true };
    const unit = findRepeatedUnit(this.#text.bytes, stringStart, length);
    if (unit === 0 || !(value === null ? this.#grammar.allows(QUOTE) : this.#mayEnd(value))) return null;
    const mustEnd = repeatedAt !== null && length - repeatedAt <= REPEATED_SOON;
    return { nextByte: this.#text.bytes[length - unit]!, mustEnd };
  }

  /** Whether the grammar allows the rest of the mark that ends the text. */
  #mayEnd({ ends, readLength }: TextValue): boolean {
    return readLength > 0 || ends.some(end => this.#inner.countFitting(this.#tokens.beginOf(end)) > 0);
  }

  /** The last complete call where the answer ends in this token at `end`; the reader has read up to there. */
  #callAt(tokenId: number, end: number, last: CompleteCall | null): CompleteCall | null {
    const separatorLength = this.#reader.marks?.separatorLength ?? null;
    if (separatorLength === null || !this.#form.guardsRepetition) return last;
    this.#writeToken(tokenId);
    return completeCall(this.#text.bytes, end, separatorLength, last);
  }

  /** Whether a token may bring the end of repeated members. */
  #mayRepeatMembers(): boolean {
    const { length } = this.#position;
    return (
      this.#form.guardsRepetition &&
      findRepeatedUnit(this.#text.bytes, windowStart(length), length, TOKEN_BYTES) > 0
    );
  }

  #hasRepeatedMembers(end: number): boolean {
    const unit = findRepeatedUnit(this.#text.bytes, windowStart(end), end);
    return unit > 0 && isMemberUnit(this.#text.bytes, unit, end);
  }

  #findFacts(): GrammarFacts {
    const { place, frame, gap, number } = this.#position.reader;
    const isAfterValue = place === 'value-end' || place === 'number' || place === 'word';
    const asksClose = isAfterValue && frame !== null && gap.lineEnds === 0;
    const needsClose = this.#form.guardsRepetition || this.#form.layout === 'canonical';
    const mayClose =
      asksClose && needsClose ? this.#grammar.allows(frame.isObject ? CLOSE_OBJECT : CLOSE_LIST) : true;
    return { mayClose, isReal: place === 'number' && this.#isReal(number) };
  }

  #isReal(saved: number): boolean {
    if (this.#form.numbers === null) return false;
    const number = new NumberLength();
    number.restore(saved);
    return number.isInteger && number.digits >= DIGITS_NEAR_LIMIT && this.#grammar.allows(0x2e);
  }

  /** The reader at a position. */
  #reads(
    { reader, isEscaped }: AnswerPosition,
    facts: GrammarFacts | null = null,
    isLenient = false,
  ): JsonReader {
    this.#reader.load(reader, isEscaped, facts, isLenient);
    return this.#reader;
  }

  /** Mutates: writes the bytes of a token after the answer. */
  #writeToken(tokenId: number): void {
    const { bytes, offsets } = this.#tokens.vocabulary;
    this.#text.write(bytes.subarray(offsets[tokenId], offsets[tokenId + 1]), this.#position.length);
  }
}

/** Facts of the grammar after a string, while the string is open. */
const UNKNOWN = null;
