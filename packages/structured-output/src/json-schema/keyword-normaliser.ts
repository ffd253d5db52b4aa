// The interface between `normalise-schema.ts`, which walks a schema, and the files that normalise single keywords.

import type { JsonValue } from '@ortler/json';
import type { Grammar } from '../constraint.ts';
import type { ConstraintLimits } from '../constraint-spec.ts';

export interface NormaliseOptions {
  readonly closeObjects: boolean;
  readonly limits: ConstraintLimits;
  /** Keywords that no grammar enforces are taken: the finished text is checked, by us or by the caller. Default: false. */
  readonly isLenient?: boolean;
  /** Leave several `patternProperties` of one object to the final check: they may overlap. Default: false. */
  readonly omitsPatterns?: boolean;
  /** Leave `minProperties` and `maxProperties` to the final check: other schemas of the value may declare properties. */
  readonly omitsCounts?: boolean;
  /** Leave the keywords beside a `$ref` to the final check. Default: false. */
  readonly omitsBesideReferences?: boolean;
  /** Whether a value fits the schema, by compiling it. Absent: nothing is known. */
  readonly isSatisfiable?: (schema: JsonValue) => boolean;
  /** Whether other texts than these match the pattern, by compiling it. Absent: nothing is known. */
  readonly matchesOthers?: (pattern: string, texts: readonly string[]) => boolean;
  /** Whether the masks of a pattern stay within their budget. Absent: nothing is generated. */
  readonly fitsMaskBudget?: (grammar: Grammar) => boolean;
}

/** The position of the walk in the schema. */
export interface SchemaPlace {
  readonly base: string;
  readonly place: string;
  readonly depth: number;
  /** Another schema of the same value declares properties too, so this one alone must not close the object. */
  readonly isShared: boolean;
  /** `isShared` for the branches of this schema: `$ref`, `allOf` and the like. */
  readonly sharesBranches: boolean;
  /** Schemas entered since the last step into a value: meeting one again is infinite recursion. */
  readonly chain: readonly JsonValue[];
}

export interface KeywordNormaliser {
  readonly options: NormaliseOptions;
  /** The schema one step into the value: a property or an item. */
  descend(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue;
  /** A schema for the same value. */
  branch(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue;
  /** The schema that one stands for which says no more than a reference; every other one as it is. */
  follow(schema: JsonValue, at: SchemaPlace): JsonValue;
  /** The keyword is not enforced by the grammar. */
  markUnenforced(keyword: string, at: SchemaPlace): void;
  /** The finished text is checked although every keyword is enforced. */
  markApproximate(): void;
}
