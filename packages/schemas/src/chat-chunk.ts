// One event (chunk) of a streamed chat completion. Unlike the whole answer, a chunk omits unused fields: `usage` without
// usage statistics, `stop_reason` before the end, `token_ids` and `prompt_token_ids` where not requested.

import { z } from 'zod';
import { constraintPosition, finishReason, stopReason } from './chat-completion.ts';
import { choiceLogprobs, usage } from './chat-logprobs.ts';

/** New text of one tool call. */
export const chatChunkToolCall = z.object({
  index: z.int().describe('Place of the call in the message.'),
  id: z.string().optional().describe('Id of the call; only in its first chunk.'),
  type: z.literal('function').optional().describe('Kind of tool; only in the first chunk of the call.'),
  function: z
    .object({
      name: z.string().optional().describe('Name of the function; only in the first chunk of the call.'),
      arguments: z.string().describe('The next piece of the arguments, which are JSON text.'),
    })
    .describe('The function call.'),
});
export type ChatChunkToolCall = z.output<typeof chatChunkToolCall>;

/** The new part of a choice. */
export const chatChunkDelta = z.object({
  role: z.string().optional().describe('Role of the message; only in the first chunk of a choice.'),
  content: z
    .string()
    .nullish()
    .describe(
      'The next piece of text; may be empty. Absent where there is none beside tools or a reasoning format.',
    ),
  reasoning: z.string().nullish().describe('The next piece of reasoning text.'),
  tool_calls: z.array(chatChunkToolCall).optional().describe('New text of tool calls.'),
});
export type ChatChunkDelta = z.output<typeof chatChunkDelta>;

/** The one choice that a chunk continues. */
export const chatChunkChoice = z.object({
  index: z.int().describe('Index of the choice that this chunk continues.'),
  delta: chatChunkDelta.describe('The new part of the choice.'),
  logprobs: choiceLogprobs.nullable().describe('Log probabilities of this chunk’s tokens.'),
  finish_reason: finishReason.nullable(),
  stop_reason: stopReason.optional(),
  constraint_position: constraintPosition,
  token_ids: z.array(z.int()).nullish().describe('Token ids of this chunk, when requested.'),
});
export type ChatChunkChoice = z.output<typeof chatChunkChoice>;

const chunkExample = {
  id: 'chatcmpl-9f1c6a52b0d94a3c8e7f',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'demo',
  choices: [{ index: 0, delta: { content: 'Paris' }, logprobs: null, finish_reason: null, token_ids: null }],
};

/** One event of the stream. */
export const chatChunk = z
  .object({
    id: z.string().describe('The same in all chunks: `chatcmpl-` and the id of the request.'),
    object: z.literal('chat.completion.chunk').default('chat.completion.chunk').describe('Kind of object.'),
    created: z.int().describe('Time of the request. Unix seconds.'),
    model: z.string().describe('Id of the model.'),
    choices: z.array(chatChunkChoice).describe('One choice, or none in the chunk that only carries usage.'),
    usage: usage.nullish().describe('Token counts, when requested.'),
    prompt_token_ids: z
      .array(z.int())
      .nullish()
      .describe('Token ids of the prompt: in the very first chunk, when requested.'),
  })
  .meta({ examples: [chunkExample] });
export type ChatChunk = z.output<typeof chatChunk>;

export const chatChunkExamples = {
  valid: [
    chunkExample,
    {
      ...chunkExample,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      prompt_token_ids: [1, 2],
    },
    {
      ...chunkExample,
      choices: [
        { index: 0, delta: { content: '' }, logprobs: null, finish_reason: 'stop', stop_reason: 'END' },
      ],
    },
    {
      ...chunkExample,
      choices: [],
      usage: { prompt_tokens: 12, total_tokens: 14, completion_tokens: 2 },
    },
  ],
  invalid: [
    { input: { ...chunkExample, object: 'chat.completion' }, type: 'literal_error', loc: ['object'] },
    { input: { ...chunkExample, choices: {} }, type: 'list_type', loc: ['choices'] },
  ],
} as const;
