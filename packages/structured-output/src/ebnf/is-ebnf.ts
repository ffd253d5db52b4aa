/** Whether a grammar is EBNF; otherwise it is taken to be Lark, in which two colons never stand before an equals sign. */
export function isEbnf(text: string): boolean {
  return text.includes('::=');
}
