// One event (chunk) of a streamed completion. Unlike a chat chunk it has every key, null where unused; only the last
// chunk, which carries usage, omits the others.

import { z } from 'zod';
import { constraintPosition, finishReason, stopReason } from './chat-completion.ts';
import { usage } from './chat-logprobs.ts';
import { completionLogprobs } from './completion.ts';

/** The one choice that a chunk continues. */
export const completionChunkChoice = z.object({
  index: z.int().describe('Index of the choice that this chunk continues.'),
  text: z.string().describe('The next piece of text; may be empty.'),
  logprobs: completionLogprobs.nullable().describe('Log probabilities of this chunk’s tokens.'),
  finish_reason: finishReason.nullable(),
  stop_reason: stopReason,
  constraint_position: constraintPosition,
  prompt_token_ids: z
    .array(z.int())
    .nullable()
    .describe('Token ids of the prompt: in the first chunk of a choice, when requested.'),
  token_ids: z.array(z.int()).nullable().describe('Token ids of this chunk, when requested.'),
});
export type CompletionChunkChoice = z.output<typeof completionChunkChoice>;

const chunkExample = {
  id: 'cmpl-9f1c6a52b0d94a3c8e7f',
  object: 'text_completion',
  created: 1_790_000_000,
  model: 'demo',
  choices: [
    {
      index: 0,
      text: ' Paris',
      logprobs: null,
      finish_reason: null,
      stop_reason: null,
      prompt_token_ids: null,
      token_ids: null,
    },
  ],
  usage: null,
};

/** One event of the stream. */
export const completionChunk = z
  .object({
    id: z.string().describe('The same in all chunks: `cmpl-` and the id of the request.'),
    object: z.literal('text_completion').default('text_completion').describe('Kind of object.'),
    created: z.int().describe('Time of the request. Unix seconds.'),
    model: z.string().describe('Id of the model.'),
    choices: z
      .array(completionChunkChoice)
      .describe('One choice, or none in the chunk that only carries usage.'),
    usage: usage.nullable().describe('Token counts, when requested.'),
  })
  .meta({ examples: [chunkExample] });
export type CompletionChunk = z.output<typeof completionChunk>;

export const completionChunkExamples = {
  valid: [
    chunkExample,
    { ...chunkExample, choices: [], usage: { prompt_tokens: 5, total_tokens: 6, completion_tokens: 1 } },
  ],
  invalid: [
    { input: { ...chunkExample, choices: {} }, type: 'list_type', loc: ['choices'] },
    { input: { ...chunkExample, usage: undefined }, type: 'missing', loc: ['usage'] },
  ],
} as const;
