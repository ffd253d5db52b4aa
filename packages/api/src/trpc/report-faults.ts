// The step that endpoints with `{ detail: [...] }` errors begin with: what a schema refuses becomes a list of faults
// (status 422) that says for each where it stands.

import { type FieldLocation, toValidationDetails, type ValidationDetail } from '@ortler/schemas';
import { ZodError } from 'zod';
import { ApiError } from './errors.ts';
import { InputTooDeepError } from './int64-transformer.ts';
import { middleware, type ProcedureMeta } from './trpc.ts';

/** Put it before `.input(schema)`. Throws: `invalid_input`. */
export const reportFaults = middleware(async ({ next, meta, getRawInput }) => {
  const result = await next();
  if (result.ok || result.error.code !== 'BAD_REQUEST') return result;
  const { cause } = result.error;
  if (cause instanceof InputTooDeepError) throw invalidInput([tooDeep(locationsOf(meta)(''), cause)]);
  if (!(cause instanceof ZodError)) return result;
  throw invalidInput(toValidationDetails(cause, locationsOf(meta), await getRawInput()));
});

/** The error of a request with these faults. */
export function invalidInput(faults: readonly ValidationDetail[]): ApiError {
  const texts = faults.slice(0, SHOWN_FAULTS).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const rest = faults.length - texts.length;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return new ApiError('invalid_input', `The request is not valid: ${texts.join('; ')}${more}`, { faults });
}

/** The error of one value that a schema cannot judge. */
export function wrongValue(loc: readonly string[], reason: string): ApiError {
  return invalidInput([{ loc: [...loc], msg: `Value error, ${reason}`, type: 'value_error' }]);
}

/** As `toJsonSyntaxDetails`, without a position: the text of the input is gone. */
function tooDeep(location: FieldLocation, { limit }: InputTooDeepError): ValidationDetail {
  return { loc: [location], msg: `JSON decode error: ${limit}`, type: 'json_invalid' };
}

/** Faults in the message, for readers that do not look at the list. */
const SHOWN_FAULTS = 3;

function locationsOf(meta: ProcedureMeta | undefined): (field: string) => FieldLocation {
  const { method, path = '' } = meta?.openapi ?? {};
  const rest = method === 'GET' ? 'query' : 'body';
  return field => (path.includes(`{${field}}`) ? 'path' : rest);
}
