// Tools of a chat request: functions that the chat template describes to the model, and the choice among them.

import { z } from 'zod';
import { boundedList, jsonObject } from './bounded-collections.ts';
import { laxBoolean } from './lax-primitives.ts';

/** A function that the chat template can describe to the model. */
export const functionDefinition = z.object({
  name: z.string().describe('Name of the function.'),
  description: z.string().nullable().default(null).describe('Description of the function, for the model.'),
  parameters: jsonObject().nullable().default(null).describe('JSON Schema of the arguments.'),
  strict: laxBoolean()
    .nullish()
    .describe(
      'True: keywords of the schema that cannot be enforced are refused. Otherwise they are left out, and all others are enforced.',
    ),
});
export type FunctionDefinition = z.output<typeof functionDefinition>;

/** One entry of `tools`. Absent descriptions and parameters are passed to the template as null. */
export const chatTool = z.object({
  type: z.literal('function').default('function').describe('Kind of tool; only functions exist.'),
  function: functionDefinition.describe('The function.'),
});
export type ChatTool = z.output<typeof chatTool>;

/** Which functions the model calls. */
export const chatToolChoice = z.union([
  z.object({
    type: z.literal('function').describe('Kind of tool; only functions exist.'),
    function: z.object({ name: z.string().describe('Name of the function.') }).describe('The function.'),
  }),
  z.enum(['none', 'auto', 'required']),
]);
export type ChatToolChoice = z.output<typeof chatToolChoice>;

export const toolFields = {
  tools: boundedList(chatTool, { minLength: 1 })
    .nullish()
    .describe('Functions passed to the chat template. An empty list is refused; omit the field instead.'),
  tool_choice: chatToolChoice
    .nullish()
    .describe(
      '`none`: the prompt describes the tools, and the model answers with text. `auto`, `required` and a named function need a server with tool calling (`--tool-calling on`). Default: `none`; with tool calling `auto`.',
    ),
} as const;

export const chatToolExamples = {
  valid: [
    {
      type: 'function',
      function: {
        name: 'weather',
        description: 'Today’s weather in a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
    { function: { name: 'now' } },
  ],
  invalid: [
    { input: { type: 'function' }, type: 'missing', loc: ['function'] },
    { input: { type: 'retrieval', function: { name: 'x' } }, type: 'literal_error', loc: ['type'] },
    {
      input: { function: { name: 'x', parameters: [] } },
      type: 'dict_type',
      loc: ['function', 'parameters'],
    },
  ],
} as const;
