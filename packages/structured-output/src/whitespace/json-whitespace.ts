// State machine of the white space between tokens of JSON, byte by byte. It allows one-line and indented JSON, and never
// enough white space to fill an answer. Callers: `whitespace-limit.ts`, `../json-schema/json-style.ts`.

/** Line ends in a row: one, and an empty line after the mark that ends a thought. */
const LINE_ENDS = 2;
/** Blanks and tabs at the start of a line. Source: the grammars for JSON of llama.cpp leave as many. */
const INDENT = 20;

/** One gap as a regular expression: nothing, a blank, or line ends with an indent. */
export const GAP_PATTERN = `(?: |\\n{1,${LINE_ENDS}}[ \\t]{0,${INDENT}})?`;

/** State of the machine. Outside strings it encodes the length of the current gap. */
export type GapState = number;

/** Not in a string, and no white space directly before. JSON begins here. */
export const OUTSIDE: GapState = 0;
const IN_STRING: GapState = 1;
const AFTER_BACKSLASH: GapState = 2;
/** One blank, after which no more may come. */
const AFTER_BLANK: GapState = 3;
/** `l` line ends and `i` characters of indent: this plus `(l - 1) * (INDENT + 1) + i`. */
const IN_INDENT: GapState = 4;

export const GAP_STATE_COUNT = IN_INDENT + LINE_ENDS * (INDENT + 1);
/** The byte would make a gap too wide. */
export const TOO_WIDE = -1;

/** Whether the byte before was part of a string. */
export function isInString(state: GapState): boolean {
  return state === IN_STRING || state === AFTER_BACKSLASH;
}

/** The state behind one more byte of JSON, or `TOO_WIDE`. */
export function nextGapState(state: GapState, byte: number): GapState {
  if (state === AFTER_BACKSLASH) return IN_STRING;
  if (state === IN_STRING) return byte === 0x22 ? OUTSIDE : byte === 0x5c ? AFTER_BACKSLASH : IN_STRING;
  if (byte === 0x0a) return afterLineEnd(state);
  if (byte === 0x20 && state === OUTSIDE) return AFTER_BLANK;
  if (byte === 0x20 || byte === 0x09) return afterIndent(state);
  if (byte === 0x0d) return TOO_WIDE;
  return byte === 0x22 ? IN_STRING : OUTSIDE;
}

/** Line ends follow each other directly; a blank before one has no use. */
function afterLineEnd(state: GapState): GapState {
  if (state === OUTSIDE) return IN_INDENT;
  const lineEnds = (state - IN_INDENT) / (INDENT + 1) + 1;
  return Number.isInteger(lineEnds) && lineEnds > 0 && lineEnds < LINE_ENDS
    ? IN_INDENT + lineEnds * (INDENT + 1)
    : TOO_WIDE;
}

function afterIndent(state: GapState): GapState {
  if (state < IN_INDENT || (state - IN_INDENT) % (INDENT + 1) === INDENT) return TOO_WIDE;
  return state + 1;
}
