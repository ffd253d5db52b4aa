// The error of a call that must be refused.

import { ApiError } from '../trpc/errors.ts';

/** Throws: an Error when the promise is kept, or broken with anything but an `ApiError`. */
export async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`expected an ApiError, got ${String(error)}`);
}
