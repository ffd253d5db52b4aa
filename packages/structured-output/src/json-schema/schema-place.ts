// What the keywords of a schema are normalised with: the place they stand at, and whoever goes on from there.
// `normalise-schema.ts` is the one; the files of single keywords know no more of it than this.

import type { JsonValue } from '@ortler/json';
import type { Grammar } from '../constraint.ts';
import type { ConstraintLimits } from '../constraint-spec.ts';

export interface NormaliseOptions {
  readonly closeObjects: boolean;
  readonly limits: ConstraintLimits;
  /** Leave `patternProperties` to the check at the end where one object has several: they may overlap. Default: false. */
  readonly leavesOutPatterns?: boolean;
  /** Whether texts can be held to a pattern at a bearable cost. Absent: nothing is generated, so nobody asks. */
  readonly canFollow?: (grammar: Grammar) => boolean;
}

/** One place of the schema on the way down. */
export interface SchemaPlace {
  readonly base: string;
  readonly place: string;
  readonly depth: number;
  /** Schemas entered since the last step into a value; meeting one again means that nothing is ever read. */
  readonly chain: readonly JsonValue[];
}

export interface KeywordNormaliser {
  readonly options: NormaliseOptions;
  /** The schema one step into the value: a property or an item. */
  descend(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue;
  /** A schema for the same value. */
  branch(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue;
  /** The keyword is not enforced by the grammar. */
  leaveOut(keyword: string, at: SchemaPlace): void;
  /** The finished text is worth a look although everything is enforced. */
  markApproximate(): void;
}
