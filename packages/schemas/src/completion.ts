// Answer of POST /v1/completions without streaming. Absent values are null, never omitted.

import { z } from 'zod';
import { chatCompletion, constraintPosition, finishReason, stopReason } from './chat-completion.ts';
import { promptLogprobs, usage } from './chat-logprobs.ts';

/** Log probabilities of a completion: four lists with one entry per token. */
export const completionLogprobs = z.object({
  text_offset: z.array(z.int()).describe('Offset of each token in the text. Unit: characters.'),
  token_logprobs: z
    .array(z.number().nullable())
    .describe('Log probability of each token, at least -9999; null for the first token of the prompt.'),
  tokens: z.array(z.string()).describe('Text of each token.'),
  top_logprobs: z
    .array(z.record(z.string(), z.number()).nullable())
    .describe('For each position: the token and the most probable others, by text.'),
});
export type CompletionLogprobs = z.output<typeof completionLogprobs>;

/** One generated text. */
export const completionChoice = z.object({
  index: z.int().describe('Index of the choice; those of the first prompt come first.'),
  text: z.string().describe('The generated text, after the prompt with `echo`.'),
  logprobs: completionLogprobs.nullable().describe('Log probabilities, when requested.'),
  finish_reason: finishReason,
  stop_reason: stopReason,
  constraint_position: constraintPosition,
  token_ids: z.array(z.int()).nullable().describe('Ids of the generated tokens, when requested.'),
  prompt_logprobs: z
    .array(promptLogprobs.nullable())
    .nullable()
    .describe('One entry per token of the prompt, the first null; when requested.'),
  prompt_token_ids: z
    .array(z.int())
    .nullable()
    .describe('Token ids of the prompt of this choice, when requested.'),
});
export type CompletionChoice = z.output<typeof completionChoice>;

const completionExample = {
  id: 'cmpl-9f1c6a52b0d94a3c8e7f',
  object: 'text_completion',
  created: 1_790_000_000,
  model: 'demo',
  choices: [
    {
      index: 0,
      text: ' Paris',
      logprobs: {
        text_offset: [0],
        token_logprobs: [-0.01],
        tokens: [' Paris'],
        top_logprobs: [{ ' Paris': -0.01, ' Rome': -5.2 }],
      },
      finish_reason: 'length',
      stop_reason: null,
      token_ids: null,
      prompt_logprobs: null,
      prompt_token_ids: null,
    },
  ],
  service_tier: null,
  system_fingerprint: null,
  usage: {
    prompt_tokens: 5,
    total_tokens: 6,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 0 },
  },
  kv_transfer_params: null,
};

/** The whole answer. */
export const completion = z
  .object({
    id: z.string().describe('`cmpl-` and the id of the request.'),
    object: z.literal('text_completion').default('text_completion').describe('Kind of object.'),
    created: z.int().describe('Time of the request. Unix seconds.'),
    model: z.string().describe('Id of the model that answered.'),
    choices: z.array(completionChoice).describe('The generated texts, by index.'),
    service_tier: chatCompletion.shape.service_tier,
    system_fingerprint: chatCompletion.shape.system_fingerprint,
    usage: usage.describe('Token counts over all prompts and choices.'),
    kv_transfer_params: chatCompletion.shape.kv_transfer_params,
  })
  .meta({ examples: [completionExample] });
export type Completion = z.output<typeof completion>;

export const completionExamples = {
  valid: [completionExample],
  invalid: [
    { input: { ...completionExample, choices: undefined }, type: 'missing', loc: ['choices'] },
    { input: { ...completionExample, object: 'chat.completion' }, type: 'literal_error', loc: ['object'] },
  ],
} as const;
