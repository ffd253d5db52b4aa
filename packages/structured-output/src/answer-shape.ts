// Where in an answer JSON and other values are: the outline of a structural tag, as far as the form of values
// depends on it. Plain data that crosses threads. It allows more than the grammar, which alone decides what
// the answer may be.

export type AnswerShape =
  | { readonly kind: 'text'; readonly text: string }
  /** `first`: characters that it may begin with. */
  | { readonly kind: 'json'; readonly first: string; readonly hasLongNumbers: boolean }
  /** Any number of characters: of a class, written as in a regular expression, or all of them. */
  | { readonly kind: 'any'; readonly characters: string | null }
  /** Text up to the first of these ends, and the end. `isValue`: the text is the value of an argument. */
  | { readonly kind: 'until'; readonly ends: readonly string[]; readonly isValue: boolean }
  /** Text that does not begin with any of these. */
  | { readonly kind: 'other'; readonly beginnings: readonly string[] }
  | { readonly kind: 'sequence'; readonly items: readonly AnswerShape[] }
  | { readonly kind: 'choice'; readonly items: readonly AnswerShape[] }
  | {
      readonly kind: 'rules';
      readonly rules: Readonly<Record<string, AnswerShape>>;
      readonly content: AnswerShape;
    }
  | { readonly kind: 'rule'; readonly name: string }
  | {
      readonly kind: 'repeated';
      readonly item: AnswerShape;
      readonly separator: string;
      readonly mayBeMissing: boolean;
      readonly areCalls: boolean;
    };
