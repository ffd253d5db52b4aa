// The input of procedures that always stream. Rules between `stream` and other fields hold for them as for a REST request that
// asks for a stream, whether their caller says so or not.

import { z } from 'zod';

/** The schema with `stream: true` in place of an absent or false value. Types are those of the schema. */
export function asStreamed<Schema extends z.ZodType>(schema: Schema): Schema {
  const streamed = z.preprocess(given => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    const { stream = null } = given as { readonly stream?: unknown };
    return stream === null || stream === false ? { ...given, stream: true } : given;
  }, schema);
  return streamed as unknown as Schema;
}
