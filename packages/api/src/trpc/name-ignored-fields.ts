// Fields that the schema of a request does not know have no effect, as in vLLM. The reply names them, so that a misspelt parameter
// does not pass unseen.

import type { ZodObject } from 'zod';
import { readRawInput } from './raw-input.ts';
import type { CallerContext } from './trpc.ts';

/** Reply header: names of ignored fields, percent-encoded, with commas between. */
export const IGNORED_FIELDS_HEADER = 'ortler-ignored-fields';
/** A header has room for a few names. */
const MAX_NAMES = 20;
/** Unit: UTF-16 code units. */
const MAX_NAME_LENGTH = 64;

/** Names the ignored fields at the top of the request. An unknown field that is null asks for nothing. */
export async function nameIgnoredFields(context: CallerContext, { shape }: ZodObject): Promise<void> {
  const given = await readRawInput(context);
  const names = Object.keys(given).filter(name => given[name] !== null && !Object.hasOwn(shape, name));
  if (names.length === 0) return;
  const shown = names
    .slice(0, MAX_NAMES)
    .map(name => encodeURIComponent(name.slice(0, MAX_NAME_LENGTH).toWellFormed()));
  context.setHeader?.(IGNORED_FIELDS_HEADER, shown.join(', '));
}
