// Ids of the calls of one answer: what the model wrote, or new ones.

import type { IdRule } from '../tool-dialect.ts';

/** Parts of a call that the model wrote before its arguments. */
export interface WrittenParts {
  readonly name: string;
  readonly id: string | undefined;
  /** Number of the call. */
  readonly number: string | undefined;
}

export function callId(
  rule: IdRule,
  { name, id, number }: WrittenParts,
  randomText: (length: number) => string,
): string {
  if (rule.kind === 'named') return `${rule.prefix}${name}:${number ?? '0'}`;
  return id ?? rule.prefix + randomText(rule.length);
}
