// Log probabilities and token counts of chat answers and chunks.

import { z } from 'zod';

const tokenText = z.string().describe('Text of the token.');
const logprob = z.number().describe('Log probability of the token, at least -9999.');
const bytes = z.array(z.int()).nullable().describe('Bytes of the token’s text in UTF-8.');

/** A token and its log probability. */
export const topLogprob = z.object({ token: tokenText, logprob, bytes });
export type TopLogprob = z.output<typeof topLogprob>;

/** A generated token, its log probability and the top alternatives. */
export const tokenLogprob = z.object({
  token: tokenText,
  logprob,
  bytes,
  top_logprobs: z.array(topLogprob).describe('The generated token, then the most probable other tokens.'),
});
export type TokenLogprob = z.output<typeof tokenLogprob>;

/** Log probabilities of one choice. */
export const choiceLogprobs = z.object({
  content: z.array(tokenLogprob).nullable().describe('One entry per generated token, end tokens included.'),
});
export type ChoiceLogprobs = z.output<typeof choiceLogprobs>;

/** Log probabilities at one position of the prompt, by token id. The order of keys has no meaning; use `rank`. */
export type PromptLogprobs = Record<
  string,
  { readonly logprob: number; readonly rank: number; readonly decoded_token: string }
>;
// Documented but not validated: it occurs only in answers, and a long prompt has hundreds of thousands of them.
export const promptLogprobs: z.ZodType<PromptLogprobs> = z.any().meta({
  type: 'object',
  propertyNames: { type: 'string' },
  additionalProperties: {
    type: 'object',
    properties: {
      logprob: { type: 'number', description: 'Log probability of the token, at least -9999.' },
      rank: { type: 'integer', description: 'Rank of the token at this position; 1 is the most probable.' },
      decoded_token: { type: 'string', description: 'Text of the token.' },
    },
    required: ['logprob', 'rank', 'decoded_token'],
    additionalProperties: false,
  },
});

/** Token counts. */
export const usage = z.object({
  prompt_tokens: z.int().default(0).describe('Tokens of the prompt, counted once for all choices.'),
  total_tokens: z.int().default(0).describe('Prompt and completion tokens together.'),
  completion_tokens: z.int().default(0).describe('Generated tokens of all choices.'),
  prompt_tokens_details: z
    .object({
      cached_tokens: z
        .int()
        .nullable()
        .describe('Prefix cache hits: prompt tokens that were not computed again.'),
    })
    .nullish()
    .describe('Details of the prompt tokens.'),
  completion_tokens_details: z
    .object({
      reasoning_tokens: z.int().describe('Tokens of the reasoning of all choices, its marks included.'),
    })
    .nullish()
    .describe(
      'Details of the generated tokens. In the usage of a whole chat, of models whose reasoning is separated from the answer.',
    ),
});
export type Usage = z.output<typeof usage>;

export const usageExamples = {
  valid: [
    {
      prompt_tokens: 12,
      total_tokens: 14,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  ],
  invalid: [{ input: { prompt_tokens: 'many' }, type: 'value_error', loc: ['prompt_tokens'] }],
} as const;
