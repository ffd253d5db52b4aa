// The tokens of a vocabulary as the form of JSON sees them. One per model.

import type { JsonForm } from '../json-form.ts';
import type { TokenVocabulary } from '../token-vocabulary.ts';
import { isSpace, QUOTE, type ReaderState } from './json-reader.ts';
import { ShapeAutomaton } from './shape-automaton.ts';

const BACKSLASH = 0x5c;

/**
 * Tokens that end a string or escape a character: those that break the form, and those that the grammar
 * decides on.
 */
export interface StringEnds {
  readonly refused: readonly number[];
  /** By a text that the grammar must allow. */
  readonly asking: ReadonlyMap<string, readonly number[]>;
}

export class JsonTokens {
  readonly vocabulary: TokenVocabulary;
  readonly wordCount: number;
  /** Work memory for a mask. */
  readonly scratch: Uint32Array;
  /** Cache of the matchers: by the state inside a string, and by all that a layout depends on there. */
  readonly #endsByState = new WeakMap<ReaderState, StringEnds>();
  readonly #endsByKey = new Map<string, StringEnds>();
  /** By token: 1 where a string is not the same after it. */
  readonly #changesString: Uint8Array;
  readonly #byByte = new Map<number, number>();
  /** Outlines of answers, by their text: requests with the same tools share one. */
  readonly #shapes = new Map<string, ShapeAutomaton>();
  /** Text tokens that can end a string, and those that can end it or escape a character. */
  readonly #quoted: readonly number[];
  readonly #changing: readonly number[];
  #spaced: Uint32Array | null = null;

  constructor(vocabulary: TokenVocabulary) {
    this.vocabulary = vocabulary;
    this.wordCount = Math.ceil(vocabulary.columnCount / 32);
    this.scratch = new Uint32Array(this.wordCount);
    this.#changesString = new Uint8Array(vocabulary.columnCount);
    const { bytes, offsets } = vocabulary;
    const quoted: number[] = [];
    const changing: number[] = [];
    for (const id of textTokens(vocabulary)) {
      const text = bytes.subarray(offsets[id], offsets[id + 1]);
      if (text.includes(QUOTE)) quoted.push(id);
      if (text.includes(QUOTE) || text.includes(BACKSLASH)) {
        changing.push(id);
        this.#changesString[id] = 1;
      }
      if (text.length === 1) this.#byByte.set(text[0]!, id);
    }
    this.#quoted = quoted;
    this.#changing = changing;
  }

  /** Tokens in a string that may break its form: escapes matter in names alone. */
  stringChanges({ place }: ReaderState): readonly number[] {
    return place === 'key' ? this.#changing : this.#quoted;
  }

  getStringEnds(state: ReaderState, layout: string): StringEnds | undefined {
    const ends = this.#endsByState.get(state) ?? this.#endsByKey.get(keyOf(state, layout));
    if (ends !== undefined) this.#endsByState.set(state, ends);
    return ends;
  }

  setStringEnds(state: ReaderState, layout: string, ends: StringEnds): void {
    if (this.#endsByKey.size === MAX_KEYS) this.#endsByKey.clear();
    this.#endsByKey.set(keyOf(state, layout), ends);
    this.#endsByState.set(state, ends);
  }

  /** The outline of the answer; null where the answer is JSON. */
  shapeOf({ shape }: JsonForm): ShapeAutomaton | null {
    if (shape === undefined) return null;
    const key = JSON.stringify(shape);
    let automaton = this.#shapes.get(key);
    if (automaton !== undefined) return automaton;
    automaton = new ShapeAutomaton(shape);
    if (this.#shapes.size === MAX_SHAPES) this.#shapes.clear();
    this.#shapes.set(key, automaton);
    return automaton;
  }

  /** The token with which a mark begins: a special token or a byte. The mark has a character for each byte. */
  beginOf(mark: string): readonly number[] {
    const special = this.vocabulary.specialTokens.find(
      ({ name }) => name !== '' && mark.startsWith(Buffer.from(name).toString('latin1')),
    );
    const id = special?.id ?? this.ofByte(mark.charCodeAt(0));
    return id === undefined ? [] : [id];
  }

  changesString(tokenId: number): boolean {
    return this.#changesString[tokenId] === 1;
  }

  /** The token of one byte. Vocabularies without one are rare. */
  ofByte(byte: number): number | undefined {
    return this.#byByte.get(byte);
  }

  /** The first byte of a token's text; undefined for a token without text. */
  firstByte(tokenId: number): number | undefined {
    const { bytes, offsets } = this.vocabulary;
    return offsets[tokenId] === offsets[tokenId + 1] ? undefined : bytes[offsets[tokenId]!];
  }

  isEnd(tokenId: number): boolean {
    return this.vocabulary.eosTokenIds.includes(tokenId);
  }

  /** Mutates: takes tokens that begin with white space out of `mask`. */
  removeSpaced(mask: Uint32Array): void {
    this.#spaced ??= this.#findSpaced();
    for (let word = 0; word < mask.length; word++) mask[word]! &= ~this.#spaced[word]!;
  }

  #findSpaced(): Uint32Array {
    const spaced = new Uint32Array(this.wordCount);
    for (const id of textTokens(this.vocabulary)) {
      const first = this.firstByte(id);
      if (first !== undefined && isSpace(first)) spaced[id >>> 5]! |= 1 << (id & 31);
    }
    return spaced;
  }
}

/** A list of tokens has kilobytes. */
const MAX_KEYS = 1_024;
const MAX_SHAPES = 64;

/** All that decides about the tokens that end a string: tokens close several lists and objects at once. */
function keyOf({ place, frame, choice, node, hasLongNumbers }: ReaderState, layout: string): string {
  let key = `${layout} ${node?.id ?? 0} ${hasLongNumbers ? 1 : 0} ${place} ${choice.separator ?? '?'} ${choice.indent ?? '?'} ${frame?.depth ?? 0} `;
  for (let open = frame; open !== null; open = open.parent)
    key += open.isObject ? (open.isBroken ? '{' : 'o') : open.isBroken ? '[' : 'l';
  return key;
}

/** Ids of the tokens with text. */
function textTokens({ columnCount, offsets, specialTokens, eosTokenIds }: TokenVocabulary): number[] {
  const noText = new Set([...specialTokens.map(({ id }) => id), ...eosTokenIds]);
  const ids: number[] = [];
  for (let id = 0; id < Math.min(offsets.length - 1, columnCount); id++)
    if (!noText.has(id) && offsets[id]! < offsets[id + 1]!) ids.push(id);
  return ids;
}
