// Finds marks in text that comes in pieces. Callers: the parser and the grammars of calls, and the splitters of reasoning in the engine.

/** The mark that begins first in the text. */
export function findFirst(
  text: string,
  marks: readonly string[],
): { readonly at: number; readonly mark: string } | null {
  let first: { at: number; mark: string } | null = null;
  for (const mark of marks) {
    const at = text.indexOf(mark);
    if (at !== -1 && (first === null || at < first.at)) first = { at, mark };
  }
  return first;
}

/** Length of the text's end that may be the beginning of a mark. */
export function longestOpenMark(text: string, marks: readonly string[]): number {
  let longest = 0;
  for (const mark of marks) {
    for (let length = Math.min(mark.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(mark.slice(0, length))) longest = length;
    }
  }
  return longest;
}

/** Whether a text followed by this mark is read back whole: the first mark is the one after the text. */
export function isReadTo(mark: string, text: string): boolean {
  return (text + mark).indexOf(mark) === text.length;
}
