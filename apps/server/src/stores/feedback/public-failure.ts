// What a client learns when a database stopped its query.

import { ApiError } from '@ortler/api';
import { isQueryTimeout, isResultTooLarge, ParameterTooLongError } from '../../db/database-errors.ts';

/** A failed read as clients may see it; failures that are not theirs stay what they are. */
export function toPublicFailure(error: unknown): unknown {
  if (isQueryTimeout(error))
    return new ApiError(
      'query_timeout',
      'The query took too long; narrow the filter or index what it reads',
      { cause: error },
    );
  if (isResultTooLarge(error))
    return new ApiError('answer_too_large', 'The answer is too large; ask for fewer rows or fields', {
      cause: error,
    });
  if (error instanceof ParameterTooLongError)
    return new ApiError('invalid_parameter', error.message, { param: 'query', cause: error });
  return error;
}
