// The error of a schema that cannot be written as a grammar of a dialect.

export class ToolGrammarError extends Error {
  override readonly name = 'ToolGrammarError';
  /** JSON pointer after the place of the schema: `tools.definitions[0].parameters/properties/a`. */
  readonly place: string;

  constructor(place: string, problem: string) {
    super(`${problem} (at ${place}).`);
    this.place = place;
  }
}
