// What a filter of chat templates is; the filters themselves are in filters.ts and sequence-filters.ts.

import type { Arguments, Value } from './values.ts';

/** What filters that apply other filters and tests need. */
export interface FilterContext {
  readonly applyFilter: (name: string, input: Value, args: Arguments) => Value;
  readonly applyTest: (name: string, input: Value, args: Arguments) => boolean;
}

export type Filter = (input: Value, args: Arguments, context: FilterContext) => Value;
