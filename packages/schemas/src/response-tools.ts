// Tools of POST /v1/responses: the functions of chat tools without the inner object, and the choice among them.

import { z } from 'zod';
import { boundedList, jsonObject } from './bounded-collections.ts';
import { laxBoolean } from './lax-primitives.ts';

/** One function. */
export const responseTool = z
  .object({
    type: z.literal('function').describe('Kind of tool; only functions exist.'),
    name: z.string().describe('Name of the function.'),
    description: z.string().nullable().default(null).describe('Description of the function, for the model.'),
    parameters: jsonObject().nullable().default(null).describe('JSON Schema of the arguments.'),
    strict: laxBoolean()
      .nullish()
      .describe('True: keywords of the schema that cannot be enforced are refused, and objects are closed.'),
  })
  .describe('A function that the model may call. Tools that run on the server of the API do not exist here.');
export type ResponseTool = z.output<typeof responseTool>;

/** Which tools the model calls. */
export const responseToolChoice = z
  .union([
    z.object({ type: z.literal('function'), name: z.string().describe('Name of the function to call.') }),
    z.enum(['none', 'auto', 'required']),
  ])
  .describe('`none`, `auto`, `required`, or the function to call. Default: `auto` with tools, else `none`.');
export type ResponseToolChoice = z.output<typeof responseToolChoice>;

export const responseToolFields = {
  tools: boundedList(responseTool).nullish().describe('Functions that the model may call.'),
  tool_choice: responseToolChoice.nullish(),
} as const;

export const responseToolExamples = {
  valid: [
    {
      type: 'function',
      name: 'weather',
      description: 'Today’s weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      strict: true,
    },
    { type: 'function', name: 'now' },
  ],
  invalid: [
    { input: { type: 'web_search' }, type: 'literal_error', loc: ['type'] },
    { input: { type: 'function' }, type: 'missing', loc: ['name'] },
  ],
} as const;
