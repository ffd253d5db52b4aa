// The constraints that a caller may put on an answer: plain data, which `read-constraint.ts` reads.

/** How JSON is written, and how open objects are. */
export interface JsonStyle {
  /**
   * White space between the parts of JSON: little (a blank, or line ends with an indent of up to 20; inside a structural
   * tag around commas and colons only), any amount, none at all, or what a regular expression allows around commas and
   * colons. Default: `bounded`.
   */
  readonly whitespace?: 'bounded' | 'any' | 'none' | { readonly pattern: string };
  /** Objects with `properties` that do not speak of additional properties have none. Default: false. */
  readonly closeObjects?: boolean;
}

/** The form of an answer. The one of these fields that is there says which kind of constraint it is. */
export type ConstraintSpec =
  | JsonSchemaConstraint
  | { readonly jsonObject: boolean; readonly style?: JsonStyle }
  /** The whole answer matches. */
  | { readonly regex: string }
  | { readonly choice: readonly string[] }
  /** EBNF when the text has `::=`, with the start rule `root`; Lark otherwise. */
  | { readonly grammar: string }
  /** JSON text or parsed value, in either published shape: `format`, or `structures` and `triggers`. */
  | { readonly structuralTag: unknown; readonly style?: JsonStyle };

/** Exactly one of them is there. */
export const CONSTRAINT_FIELDS = [
  'jsonSchema',
  'jsonObject',
  'regex',
  'choice',
  'grammar',
  'structuralTag',
] as const;

export interface JsonSchemaConstraint {
  /** JSON text, or the parsed value: an object or a boolean. */
  readonly jsonSchema: unknown;
  /** Refuse what cannot be enforced while generating, instead of checking the finished text. Default: false. */
  readonly strict?: boolean;
  readonly style?: JsonStyle;
}

/** Limits on one constraint; what goes past one is refused before any of it is compiled. */
export interface ConstraintLimits {
  /** Unit: bytes of UTF-8. */
  readonly sourceBytes: number;
  /** Nesting of a schema or structural tag. */
  readonly depth: number;
  /** Values in all enums of a schema together, or texts of a choice. */
  readonly valueCount: number;
  /** Rules of a grammar. */
  readonly ruleCount: number;
  /** Unit: bytes. Longest regular expression, pattern or whitespace pattern. */
  readonly patternBytes: number;
  /**
   * Characters of a regular expression with all counted repetitions written out: its automaton has at least as many
   * states.
   */
  readonly patternSize: number;
  /** Characters and names in a rule of an EBNF grammar, counted in the same way. */
  readonly ruleSize: number;
}

/**
 * A grammar of 20,000 chained rules ends the compiler; 50,000 texts take two seconds. Of 2,176 patterns of real schemas
 * the largest has 8,393 characters written out; repetitions inside repetitions reach millions.
 */
export const DEFAULT_CONSTRAINT_LIMITS: ConstraintLimits = {
  sourceBytes: 256 * 1024,
  depth: 64,
  valueCount: 10_000,
  ruleCount: 2_000,
  patternBytes: 16 * 1024,
  patternSize: 20_000,
  ruleSize: 1_000_000,
};
