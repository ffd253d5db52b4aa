// Database errors that a client may see, as API errors.

import { ApiError } from '@ortler/api';
import {
  isIndexEntryTooLong,
  isQueryTimeout,
  isResultTooLarge,
  ParameterTooLongError,
} from '../../db/database-errors.ts';

/** The API error of a failed read or write; an error that the client did not cause is returned unchanged. */
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
  if (isIndexEntryTooLong(error))
    return new ApiError(
      'invalid_parameter',
      'A text of the payload is too long, because the operator has made an index on it: PostgreSQL takes about 2,600 bytes, project_id and id included',
      { cause: error },
    );
  if (error instanceof ParameterTooLongError)
    return new ApiError('invalid_parameter', error.message, { param: 'query', cause: error });
  return error;
}
