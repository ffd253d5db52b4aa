// The state of a form after one token of an answer, from which a matcher goes on, and to which it goes back.

import type { ReaderState } from './json-reader.ts';
import { isTwice } from './repetition.ts';

export interface AnswerPosition {
  /** Before the token; null at the start. */
  readonly previous: AnswerPosition | null;
  readonly reader: ReaderState;
  readonly isEscaped: boolean;
  /** Bytes of the answer. */
  readonly length: number;
  /** Where the text of the open string, or of an argument that is not JSON, begins. */
  readonly stringStart: number;
  /** Where that text last repeated itself. */
  readonly repeatedAt: number | null;
  /** The text of the argument must end. */
  readonly mustEnd: boolean;
  /** The last call that is complete. */
  readonly call: CompleteCall | null;
}

export interface CompleteCall {
  /** The call before it. */
  readonly previous: CompleteCall | null;
  /** Bytes of the answer up to its end. */
  readonly end: number;
  /** Unit: bytes. Null for the first call, whose beginning is not known. */
  readonly length: number | null;
  /** It was made before in this answer. */
  readonly repeats: boolean;
}

/** The state before the first token. */
export function startPosition(reader: ReaderState): AnswerPosition {
  return {
    previous: null,
    reader,
    isEscaped: false,
    length: 0,
    stringStart: 0,
    repeatedAt: null,
    mustEnd: false,
    call: null,
  };
}

/** The call that ends at `end`, after the last one before it. `bytes` is the answer up to there. */
export function completeCall(
  bytes: Uint8Array,
  end: number,
  separatorLength: number,
  last: CompleteCall | null,
): CompleteCall {
  if (last === null) return { previous: null, end, length: null, repeats: false };
  const length = end - last.end - separatorLength;
  for (let other: CompleteCall | null = last; other !== null; other = other.previous) {
    const isAsLong = other.length === null || other.length === length;
    if (isAsLong && isTwice(bytes, other.end, end, length))
      return { previous: last, end, length, repeats: true };
  }
  return { previous: last, end, length, repeats: false };
}
