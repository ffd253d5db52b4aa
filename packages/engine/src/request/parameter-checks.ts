// Checks shared by fields of a request. Each names the field by its path in the request and states the allowed values.
// Callers: the validation files beside it, and the text side for what needs the tokenizer.

import { EngineError } from '../errors.ts';
import { describeValue } from './describe-value.ts';

/** The error of one wrong field. */
export function wrongParameter(parameter: string, message: string): EngineError {
  return new EngineError('invalid_request', message, { parameter });
}

/** Throws: `invalid_request` unless `value` is a whole number within the bounds, which belong to the range. */
export function checkCount(path: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw wrongParameter(
    path,
    `${path} must be a whole number from ${min} to ${max}; got ${describeValue(value)}.`,
  );
}

/** Throws: `invalid_request` for the first id that is not in the vocabulary. */
export function checkTokenIds(path: string, ids: ArrayLike<number>, vocabSize: number): void {
  // A prompt may have a hundred thousand ids, so only a wrong one gets its path written.
  for (let index = 0; index < ids.length; index++)
    if (!isTokenId(ids[index]!, vocabSize)) checkTokenId(`${path}[${index}]`, ids[index]!, vocabSize);
}

/** Throws: `invalid_request` when the id is not in the vocabulary. */
export function checkTokenId(path: string, id: number, vocabSize: number): void {
  if (isTokenId(id, vocabSize)) return;
  throw wrongParameter(
    path,
    `${path} must be a token id from 0 to ${vocabSize - 1}; got ${describeValue(id)}.`,
  );
}

function isTokenId(id: number, vocabSize: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < vocabSize;
}
