// A fault of one row is no fault of the others: what a row gives, or why it gives nothing.

import { asError } from '../../errors.ts';

/** What `work` returns, or what it throws. */
export function attempt<Result>(work: () => Result): Result | Error {
  try {
    return work();
  } catch (error) {
    return asError(error);
  }
}
