// Query errors as API errors. A malformed query is a validation error with its path (422); an unanswerable query is a
// message (400).

import { QueryError } from '@ortler/feedback-query';
import { ApiError } from '../trpc/errors.ts';
import { invalidInput } from '../trpc/report-faults.ts';

/** Runs `work`. Throws: `ApiError` in place of every `QueryError`. */
export async function withQueryErrors<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof QueryError ? toApiError(error) : error;
  }
}

function toApiError(error: QueryError): ApiError {
  const path = error.path.map(String);
  if (error.fault === 'malformed')
    return invalidInput([{ loc: ['body', ...path], msg: error.message, type: error.code }]);
  const place = path[0] === 'query' ? ` (at ${path.join('.')})` : '';
  return new ApiError('invalid_parameter', `${error.message}${place}`, { param: path.join('.') || null });
}
