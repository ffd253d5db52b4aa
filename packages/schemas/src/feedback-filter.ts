// Types of the filter of a feedback query, for typed clients. The filter is not parsed here: @ortler/feedback-query has its
// grammar, parser and errors.

import { z } from 'zod';

/** A filter: one expression that is true or false for each row. */
export interface FeedbackFilter {
  readonly $expr: FeedbackOperation;
}

type Pair = readonly [left: FeedbackOperand, right: FeedbackOperand];

interface TextMatch {
  readonly input: FeedbackOperand;
  /** False by default. Only ASCII letters are folded. */
  readonly case_insensitive?: boolean | null;
}

/** An expression that is true or false. */
export type FeedbackOperation =
  | { readonly $and: readonly FeedbackOperand[] }
  | { readonly $or: readonly FeedbackOperand[] }
  | { readonly $not: readonly [FeedbackOperand] }
  | { readonly $eq: Pair }
  | { readonly $ne: Pair }
  | { readonly $gt: Pair }
  | { readonly $gte: Pair }
  | { readonly $lt: Pair }
  | { readonly $lte: Pair }
  | { readonly $in: readonly [value: FeedbackOperand, list: readonly FeedbackOperand[]] }
  | { readonly $nin: readonly [value: FeedbackOperand, list: readonly FeedbackOperand[]] }
  | { readonly $contains: TextMatch & { readonly substr: FeedbackOperand } }
  | { readonly $startsWith: TextMatch & { readonly prefix: FeedbackOperand } }
  | { readonly $exists: FeedbackOperand };

/** A value, or an operation as one. */
export type FeedbackOperand =
  | { readonly $literal: string | number | boolean | null }
  | { readonly $getField: string }
  | {
      readonly $convert: {
        readonly input: FeedbackOperand;
        readonly to: 'double' | 'string' | 'int' | 'bool' | 'exists';
      };
    }
  | { readonly $size: FeedbackOperand }
  | FeedbackOperation;

/** Anything passes, with the type that clients write. Documents show the grammar in its place. */
export function unparsedFilter<Filter extends FeedbackFilter | null | undefined>() {
  return z.unknown() as unknown as z.ZodType<Filter, Filter>;
}
