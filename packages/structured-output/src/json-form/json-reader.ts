// Reads JSON byte by byte as it is generated, and refuses bytes that break its form: layout, spelling of names, length of numbers. It knows
// nothing of the schema; that the text is JSON is the grammar's part. Where JSON is a part of the answer, the outline of the
// answer says where it begins. Caller: `json-form-matcher.ts`.

import type { JsonForm } from '../json-form.ts';
import {
  endCanonicalGap,
  type Frame,
  type Gap,
  type GapPlace,
  type LayoutChoice,
  NO_GAP,
  widenBoundedGap,
  widenCanonicalGap,
} from './gap-rules.ts';
import { NumberLength } from './number-length.ts';
import type { ShapeAutomaton, ShapeNode } from './shape-automaton.ts';

/** `marks`: outside of JSON. */
type ReaderPlace = GapPlace | 'key' | 'text' | 'number' | 'word' | 'marks';

/** Everything the reader knows between two tokens. Inside one string it is the same object. */
export interface ReaderState {
  readonly place: ReaderPlace;
  readonly frame: Frame | null;
  readonly gap: Gap;
  readonly choice: LayoutChoice;
  /** Of `NumberLength.save`. */
  readonly number: number;
  /** The JSON has numbers of any length, because its schema has. */
  readonly hasLongNumbers: boolean;
  /** The place in the outline of the answer, in JSON that after it; null where the answer is JSON. */
  readonly node: ShapeNode | null;
}

const NO_CHOICE: LayoutChoice = { separator: null, indent: null };

/** @param node Start of the outline of the answer; null where the answer is JSON. */
export function readerStart(node: ShapeNode | null): ReaderState {
  return {
    place: node === null ? 'start' : 'marks',
    frame: null,
    gap: NO_GAP,
    choice: NO_CHOICE,
    number: 0,
    hasLongNumbers: false,
    node,
  };
}

/** What the grammar allows at the place of a state, as far as a form depends on it. */
export interface GrammarFacts {
  /** The list or object may end. */
  readonly mayClose: boolean;
  /** The number may get a fraction. */
  readonly isReal: boolean;
}

export class JsonReader {
  readonly #form: JsonForm;
  readonly #shape: ShapeAutomaton | null;
  readonly #number = new NumberLength();
  #from: ReaderState = readerStart(null);
  #place: ReaderPlace = 'start';
  #frame: Frame | null = null;
  #gap: Gap = NO_GAP;
  #choice: LayoutChoice = NO_CHOICE;
  #node: ShapeNode | null = null;
  #hasLongNumbers = false;
  /** Null: unknown, because something was read since. */
  #mayClose: boolean | null = null;
  #isReal = false;
  #isEscaped = false;
  /** A line ended after a value, although it is not known whether the list or object may end there: its closing bracket. */
  #neededBracket: number | null = null;
  #isLenient = false;

  /** @param shape Outline of the answer; null where the answer is JSON. */
  constructor(form: JsonForm, shape: ShapeAutomaton | null) {
    this.#form = form;
    this.#shape = shape;
  }

  /**
   * Continues from a state. `facts` hold there; null: nothing is known of the grammar.
   * `isLenient`: reads on where the form is broken. Mutates: this.
   */
  load(state: ReaderState, isEscaped: boolean, facts: GrammarFacts | null, isLenient = false): void {
    this.#from = state;
    this.#place = state.place;
    this.#frame = state.frame;
    this.#gap = state.gap;
    this.#choice = state.choice;
    this.#node = state.node;
    this.#hasLongNumbers = state.hasLongNumbers;
    this.#number.restore(state.number);
    this.#mayClose = facts?.mayClose ?? null;
    this.#isReal = facts?.isReal ?? false;
    this.#isEscaped = isEscaped;
    this.#neededBracket = null;
    this.#isLenient = isLenient;
  }

  get isInString(): boolean {
    return this.#place === 'key' || this.#place === 'text';
  }

  /** Outside of JSON: null in it. */
  get marks(): ShapeNode | null {
    return this.#place === 'marks' ? this.#node : null;
  }

  /** The text that is read: a string of JSON, or an argument that is none; null outside of both. */
  get textPlace(): number | null {
    return this.isInString ? -1 : (this.marks?.value?.place ?? null);
  }

  /** After a call: reads on as if there were no further one. Anywhere else it does nothing. Mutates: this. */
  endCalls(): void {
    const { marks } = this;
    if (marks?.ending != null) this.#node = marks.ending;
  }

  get isEscaped(): boolean {
    return this.#isEscaped;
  }

  /** The bracket that must be able to follow the last part, because a line ended after it; null where none must. */
  get neededBracket(): number | null {
    return this.#neededBracket;
  }

  /** The state after the bytes so far: that of `load` where it is the same. */
  save(): ReaderState {
    const from = this.#from;
    const isSame =
      from.place === this.#place &&
      from.frame === this.#frame &&
      from.choice === this.#choice &&
      from.node === this.#node;
    if (this.isInString && isSame) return from;
    return {
      place: this.#place,
      frame: this.#frame,
      gap: this.#gap,
      choice: this.#choice,
      number: this.#number.save(),
      hasLongNumbers: this.#hasLongNumbers,
      node: this.#node,
    };
  }

  /** False where the byte breaks the form. Mutates: this. */
  read(byte: number): boolean {
    if (this.#place === 'marks') return this.#readMark(byte);
    if (this.isInString) {
      const fits = this.#readText(byte);
      this.#leaveWhole();
      return fits || this.#isLenient;
    }
    if (this.#isAfterWord(byte)) {
      this.#place = 'marks';
      return this.#readMark(byte);
    }
    if (isSpace(byte)) return this.#readSpace(String.fromCharCode(byte));
    if (this.#place === 'number' && isNumberByte(byte)) return this.#readDigit(byte);
    if (this.#place === 'word' && isLetter(byte)) {
      this.#mayClose = null;
      return true;
    }
    if (!this.#endGap(byte) || !this.#readPart(byte)) return false;
    this.#leaveWhole();
    return true;
  }

  /** A byte outside of JSON, which may begin some. */
  #readMark(byte: number): boolean {
    const shape = this.#shape!;
    const { node, json } = shape.read(this.#node!, byte);
    if (node === null) {
      this.#node = shape.lost;
      return this.#isLenient;
    }
    this.#node = node;
    if (json === null) return true;
    this.#place = 'start';
    this.#gap = NO_GAP;
    this.#choice = NO_CHOICE;
    this.#hasLongNumbers = json.hasLongNumbers;
    return this.#readPart(byte);
  }

  /** A number or word that is a whole part ends with the first byte after it. */
  #isAfterWord(byte: number): boolean {
    if (this.#shape === null || this.#frame !== null) return false;
    if (this.#place === 'number') return !isNumberByte(byte);
    return this.#place === 'word' && !isLetter(byte);
  }

  /** Other JSON is a whole part with its last byte. */
  #leaveWhole(): void {
    if (this.#shape !== null && this.#frame === null && this.#place === 'value-end') this.#place = 'marks';
  }

  #readText(byte: number): boolean {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      // For the grammar "\u0061" is another name than "a", so its value would evade the schema of that property.
      return this.#place !== 'key' || (byte !== SMALL_U && byte !== SLASH);
    }
    if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#place = this.#place === 'key' ? 'key-end' : 'value-end';
    return true;
  }

  #readSpace(character: string): boolean {
    if (this.#place === 'number' || this.#place === 'word') this.#place = 'value-end';
    const { layout } = this.#form;
    if (layout === 'free') return true;
    const place = this.#place as GapPlace;
    if (layout === 'canonical' && place === 'value-end' && character === '\n') {
      if (this.#mayClose === false) return this.#isLenient;
      if (this.#mayClose === null) this.#neededBracket = this.#frame?.isObject ? CLOSE_OBJECT : CLOSE_LIST;
    }
    const wider =
      layout === 'bounded'
        ? widenBoundedGap(this.#gap, character)
        : widenCanonicalGap(this.#gap, character, place, this.#frame, this.#choice);
    if (wider === null) return this.#isLenient;
    this.#gap = wider;
    return true;
  }

  #readDigit(byte: number): boolean {
    const numbers = this.#hasLongNumbers ? null : this.#form.numbers;
    this.#mayClose = null;
    return numbers === null || this.#number.push(byte, numbers, this.#isReal) || this.#isLenient;
  }

  /** The white space before a part is complete. */
  #endGap(byte: number): boolean {
    if (this.#place === 'number' || this.#place === 'word') this.#place = 'value-end';
    const gap = this.#gap;
    this.#gap = NO_GAP;
    if (this.#form.layout !== 'canonical') return true;
    const place = this.#place as GapPlace;
    const isClosing = byte === CLOSE_OBJECT || byte === CLOSE_LIST;
    const end = endCanonicalGap(gap, place, this.#frame, this.#choice, isClosing);
    if (end === null) return this.#isLenient;
    this.#choice = end.choice;
    const frame = this.#frame;
    if (end.breaksFrame && frame !== null)
      this.#frame = { ...frame, isBroken: true, depth: (frame.parent?.depth ?? 0) + 1 };
    return true;
  }

  #readPart(byte: number): boolean {
    const before = this.#place;
    // After this part nothing is known of the grammar.
    this.#mayClose = null;
    this.#isReal = false;
    this.#neededBracket = null;
    const frame = this.#frame;
    if (byte === QUOTE) this.#place = frame?.isObject === true && before !== 'colon' ? 'key' : 'text';
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const depth = frame?.depth ?? 0;
      this.#frame = { parent: frame, isObject: byte === OPEN_OBJECT, isBroken: false, depth };
      this.#place = 'opened';
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      this.#frame = frame?.parent ?? null;
      this.#place = 'value-end';
    } else if (byte === COMMA) this.#place = 'comma';
    else if (byte === COLON) this.#place = 'colon';
    else if (isNumberByte(byte) && !isLetter(byte)) {
      this.#place = 'number';
      this.#number.start();
      return this.#readDigit(byte);
    } else this.#place = 'word';
    return true;
  }
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
const SLASH = 0x2f;
const SMALL_U = 0x75;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x09 || byte === 0x0d;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

function isNumberByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x65 ||
    byte === 0x45
  );
}
