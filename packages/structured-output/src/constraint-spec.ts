// The constraints that a caller may put on an answer, and the limits on their size. Plain data.

import type { TagNode } from './tag-node.ts';

/** The form of generated JSON. Every setting but `any` white space narrows it: all of it is JSON of the schema. */
export interface JsonStyle {
  /**
   * White space between the parts of JSON. `canonical`: one layout, as the answer begins: compact, with one space after
   * commas and colons, or indented lines; nothing before a comma or colon. `bounded`: little anywhere (a blank, or line ends
   * with an indent of up to 20). `any`: any amount. `none`. Or a regular expression for it around commas and colons. Inside a
   * structural tag `canonical` has the layouts on one line, and `bounded` white space around commas and colons only.
   * Default: `canonical`.
   */
  readonly whitespace?: JsonWhitespace | { readonly pattern: string };
  /**
   * Objects with `properties` that say nothing of additional properties have none, unless their properties come from several
   * schemas (`allOf`). Default: whether the schema is `strict`.
   */
  readonly closeObjects?: boolean;
  /**
   * Integers have at most 19 digits, other numbers at most 17 significant ones and an exponent of at most 3, unless the
   * schema itself has longer numbers. Default: true.
   */
  readonly limitNumbers?: boolean;
  /** A text that repeats itself in a loop is steered to its end, and so are the members of a list or object. Default: true. */
  readonly guardRepetition?: boolean;
}

/** The named kinds of white space in JSON. */
export const JSON_WHITESPACE = ['canonical', 'bounded', 'any', 'none'] as const;
export type JsonWhitespace = (typeof JSON_WHITESPACE)[number];

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
  | { readonly structuralTag: unknown; readonly style?: JsonStyle }
  | TagConstraint;

/** A structural tag as a tree of nodes, as programs write it: with parts that the published shapes do not have. */
export interface TagConstraint {
  readonly tag: TagNode;
  readonly style?: JsonStyle;
}

/** Exactly one of them is there. */
export const CONSTRAINT_FIELDS = [
  'jsonSchema',
  'jsonObject',
  'regex',
  'choice',
  'grammar',
  'structuralTag',
  'tag',
] as const;

export interface JsonSchemaConstraint {
  /** JSON text, or the parsed value: an object or a boolean. */
  readonly jsonSchema: unknown;
  /** Refuse what cannot be enforced while generating, instead of checking the finished text. Default: false. */
  readonly strict?: boolean;
  readonly style?: JsonStyle;
}

/** Limits on one constraint, checked before anything is compiled. */
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
