// Reads the arguments of one call while they stream and gives them as JSON. Implementations: `json-arguments.ts`,
// `tagged-arguments.ts`, `literal-arguments.ts`.

export interface ArgumentsReader {
  /**
   * Takes the next text. `json`: what is known of the JSON by now. `rest`: the text after the arguments, null while they
   * go on. Nothing may be pushed after the end.
   */
  push(text: string): { readonly json: string; readonly rest: string | null };
}
