// What the endpoints of OpenAI's API and of the tokenizer share: a bearer key, errors in OpenAI's form, and an input whose refusal is
// cheap.

import type { z } from 'zod';
import type { Services } from '../ports/services.ts';
import { refuseLargeFaultyInput } from './bounded-input.ts';
import { createBearerProcedure } from './trpc.ts';

/** Gives a function that creates a procedure with an input of this schema. */
export function createOpenAiProcedures(services: Services) {
  const bearer = createBearerProcedure(services);
  return <Schema extends z.ZodType>(schema: Schema) =>
    bearer.use(refuseLargeFaultyInput(schema)).meta({ auth: 'bearer', errors: 'openai' }).input(schema);
}
