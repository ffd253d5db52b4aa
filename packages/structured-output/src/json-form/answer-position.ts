// The state of a form behind one token of an answer, from which a matcher goes on, and to which it goes back.

import type { ReaderState } from './json-reader.ts';

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
  /** Bytes of the answer up to its end. */
  readonly end: number;
  /** It is the one before it again. */
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
