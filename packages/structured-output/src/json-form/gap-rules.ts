// The white space between the parts of JSON (a gap), character by character.
//
// Canonical layout: nothing before a comma or colon, and after them, through the whole answer, either nothing or one space.
// A list or object is on one line, or has a line for each member, as its opening bracket is followed by a
// line end or not; inside one on one line everything is on that line. Lines are indented by their depth, in
// the unit of the first indented line: up to 8 spaces (also none) or a tab. So the layouts are those of
// JSON.stringify with and without an indent, and of Python's json.dumps.
//
//     {"a":[1,2]}      {"a": [1, 2]}      {                    {
//                                           "a": [1, 2]          "a": [
//                                         }                        1,
//                                                                  ...

/** Line ends in a row before the first part: an empty line after the mark that ends the reasoning. */
const LINE_ENDS = 2;
/** Spaces and tabs at the start of a line in the bounded layout. Source: the grammars for JSON of llama.cpp leave as many. */
const BOUNDED_INDENT = 20;
/** Longest unit of indentation. Unit: spaces. */
const INDENT_UNIT = 8;

/** One gap of the bounded layout as a regular expression: nothing, a blank, or line ends with an indent. */
export const GAP_PATTERN = `(?: |\\n{1,${LINE_ENDS}}[ \\t]{0,${BOUNDED_INDENT}})?`;
/** The gap after a comma or colon inside a structural tag, where neither depth nor layout are known. */
export const GAP_AFTER_PATTERN = `(?: |\\n[ \\t]{0,${BOUNDED_INDENT}})?`;

/** White space directly before the next part. */
export interface Gap {
  readonly lineEnds: number;
  /** Spaces and tabs after the last line end, or from the start of the gap. */
  readonly blanks: string;
}

export const NO_GAP: Gap = { lineEnds: 0, blanks: '' };

/** A list or object that is open. */
export interface Frame {
  readonly parent: Frame | null;
  readonly isObject: boolean;
  /** It has a line for each member. Decided by the gap after its opening bracket. */
  readonly isBroken: boolean;
  /** Broken frames down to this one. */
  readonly depth: number;
}

/** Decisions for the whole answer; null before they are made. */
export interface LayoutChoice {
  /** The gap after commas and colons on one line. */
  readonly separator: '' | ' ' | null;
  /** Unit of indentation. */
  readonly indent: string | null;
}

/** Where the gap is. */
export type GapPlace = 'start' | 'opened' | 'comma' | 'colon' | 'key-end' | 'value-end';

/** The gap with one more character, or null where the bounded layout has no such gap. */
export function widenBoundedGap({ lineEnds, blanks }: Gap, character: string): Gap | null {
  if (character === '\n')
    return blanks === '' && lineEnds < LINE_ENDS ? { lineEnds: lineEnds + 1, blanks } : null;
  if (character === '\r') return null;
  if (lineEnds === 0) return blanks === '' && character === ' ' ? { lineEnds, blanks: ' ' } : null;
  return blanks.length < BOUNDED_INDENT ? { lineEnds, blanks: blanks + character } : null;
}

/** The gap with one more character, or null where no canonical layout has it. */
export function widenCanonicalGap(
  gap: Gap,
  character: string,
  place: GapPlace,
  frame: Frame | null,
  choice: LayoutChoice,
): Gap | null {
  const { lineEnds, blanks } = gap;
  if (place === 'start') return lineEnds > 0 && character !== '\n' ? null : widenBoundedGap(gap, character);
  if (character === '\n') return lineEnds === 0 && blanks === '' && mayBreak(place, frame) ? LINE_END : null;
  if (character !== ' ' && character !== '\t') return null;
  if (lineEnds > 0) {
    const longer = blanks + character;
    return fitsIndent(longer, place, frame, choice) ? { lineEnds, blanks: longer } : null;
  }
  const isAfterSeparator = place === 'colon' || (place === 'comma' && frame?.isBroken !== true);
  const isSpace = character === ' ' && blanks === '' && choice.separator !== '';
  return isAfterSeparator && isSpace ? { lineEnds, blanks: ' ' } : null;
}

const LINE_END: Gap = { lineEnds: 1, blanks: '' };

/** Whether a line may end there. Whether the list or object may end there too is not known here. */
function mayBreak(place: GapPlace, frame: Frame | null): boolean {
  if (frame === null || place === 'colon' || place === 'key-end') return false;
  return place === 'opened' ? frame.parent?.isBroken !== false : frame.isBroken;
}

/** Whether the blanks are the indentation of the next line, or its beginning. */
function fitsIndent(blanks: string, place: GapPlace, frame: Frame | null, { indent }: LayoutChoice): boolean {
  if (indent === null) return blanks === '\t' || (!blanks.includes('\t') && blanks.length <= INDENT_UNIT);
  return indent.repeat(depthOf(place, frame)).startsWith(blanks);
}

/** Depth of the next line: the closing bracket of a frame is one level further out than its members. */
function depthOf(place: GapPlace, frame: Frame | null): number {
  if (place === 'opened') return (frame?.parent?.depth ?? 0) + 1;
  return (frame?.depth ?? 0) - (place === 'value-end' ? 1 : 0);
}

/** What the canonical layout makes of a gap that ends before a part, or null where the part may not follow it. */
export function endCanonicalGap(
  { lineEnds, blanks }: Gap,
  place: GapPlace,
  frame: Frame | null,
  choice: LayoutChoice,
  isClosing: boolean,
): { readonly choice: LayoutChoice; readonly breaksFrame: boolean } | null {
  const { separator, indent } = choice;
  const kept = { choice, breaksFrame: false };
  if (place === 'start' || place === 'key-end') return kept;
  if (lineEnds > 0) {
    if ((place === 'value-end') !== isClosing) return null;
    if (indent === null) return { choice: { separator, indent: blanks }, breaksFrame: true };
    const isWhole = blanks.length === indent.length * depthOf(place, frame);
    return isWhole ? { choice, breaksFrame: place === 'opened' } : null;
  }
  if (place === 'opened') return kept;
  if (place === 'value-end') return isClosing && frame?.isBroken === true ? null : kept;
  if (place === 'comma' && frame?.isBroken === true) return null;
  const used = blanks === '' ? '' : ' ';
  if (separator === null) return { choice: { separator: used, indent }, breaksFrame: false };
  return separator === used ? kept : null;
}
