// Fields of a chat request that steer how tokens are drawn and when a choice ends.
// Ranges that depend on the model or the operator are checked later, by the api.

import { z } from 'zod';
import { boundedList, boundedRecord } from './bounded-collections.ts';
import { promptFields } from './chat-prompt.ts';
import {
  laxBigInteger,
  laxBoolean,
  laxInteger,
  laxIntegerButNoText,
  laxNumber,
  nullAsDefault,
  reportRule,
  WIRE_INT64_LIMIT,
} from './lax-primitives.ts';
import { laxTokenIdList } from './token-ids.ts';

/** Most entries of `logit_bias`. */
export const MAX_LOGIT_BIAS_COUNT = 4_096;

/** Ends a choice when the output repeats itself. All zero means off. */
export const repetitionDetection = z
  .object({
    max_pattern_size: laxInteger({ minimum: 0 })
      .prefault(0)
      .describe('Longest pattern, in tokens; 0 is off.'),
    min_pattern_size: laxInteger({ minimum: 0 }).prefault(0).describe('Shortest pattern, in tokens.'),
    min_count: laxInteger({ minimum: 0 }).prefault(0).describe('How often it must repeat; at least 2.'),
  })
  .check(context => {
    const { max_pattern_size, min_pattern_size, min_count } = context.value;
    if (min_pattern_size > max_pattern_size) {
      reportRule(context, 'min_pattern_size', 'min_pattern_size must not be above max_pattern_size');
    } else if (max_pattern_size > 0 && min_count < 2) {
      reportRule(context, 'min_count', 'min_count must be at least 2 when max_pattern_size is above 0');
    }
  })
  .describe('Ends generation early when the same tokens repeat.');
export type RepetitionDetection = z.output<typeof repetitionDetection>;

const tokenIds = laxTokenIdList().nullish();

// Not filled in: 0 is an answer of the client's, while leaving it out asks for what the model recommends.
const penalty = (description: string) =>
  laxNumber().nullish().describe(`${description} -2 to 2; 0 unless the model recommends another value.`);

export const samplingFields = {
  frequency_penalty: penalty('Lowers the score of tokens by how often the output already has them.'),
  logit_bias: boundedRecord(laxNumber(), MAX_LOGIT_BIAS_COUNT)
    .nullish()
    .describe('Added to the scores of tokens: keys are token ids, values are cut to -100 to 100.'),
  presence_penalty: penalty('Lowers the score of tokens that the output already has.'),
  seed: laxBigInteger(-WIRE_INT64_LIMIT, WIRE_INT64_LIMIT)
    .nullish()
    .describe('The same request with the same seed gives the same output. -1 means no seed.'),
  temperature: laxNumber()
    .nullish()
    .describe('0 always takes the most probable token; higher values vary more. 0 to 2.'),
  top_p: laxNumber()
    .nullish()
    .describe('Draws from the most probable tokens whose probabilities sum to this. Above 0, at most 1.'),
} as const;

export const stoppingFields = {
  max_tokens: laxInteger()
    .nullish()
    .describe('Older name of `max_completion_tokens`, which wins when both are given.')
    .meta({ deprecated: true }),
  max_completion_tokens: laxInteger()
    .nullish()
    .describe('Most tokens to generate per choice. By default, what the context leaves.'),
  stop: z
    .union([z.string(), boundedList(z.string())])
    .nullish()
    .transform((stop): string[] => (typeof stop === 'string' ? [stop] : (stop ?? [])))
    .prefault([])
    .describe('Text, or list of texts, that ends a choice; the output stops before it.'),
} as const;

export const logprobFields = {
  logprobs: nullAsDefault(laxBoolean(), false).describe('Adds the log probability of every generated token.'),
  // The rules on these two look at the JSON value itself, so text is refused. Source: upstream behaviour.
  top_logprobs: nullAsDefault(laxIntegerButNoText(), 0).describe(
    'With `logprobs`: how many of the most probable tokens to list at each place, at most 20.',
  ),
  return_tokens_as_token_ids: laxBoolean()
    .nullish()
    .describe('With `logprobs`: tokens are written as `token_id:` and the id.'),
  return_token_ids: laxBoolean()
    .nullish()
    .describe(
      'Adds token ids beside the text. In a stream the first chunk has `prompt_token_ids` and each chunk the ' +
        '`token_ids` of its text.',
    ),
} as const;

/** The extensions of the published table that chats and completions have in a row, in its order. */
export const extendedFields = {
  use_beam_search: laxBoolean()
    .prefault(false)
    .describe(
      'Searches for the `n` most probable outputs instead of drawing tokens. Fields about drawing, stopping and the ' +
        'prompt’s log probabilities have no effect then; a constraint is refused.',
    ),
  top_k: laxInteger().nullish().describe('Draws from this many most probable tokens. 0 and -1 are off.'),
  min_p: laxNumber()
    .nullish()
    .describe('Drops tokens less probable than this share of the most probable one. 0 to 1.'),
  repetition_penalty: laxNumber()
    .nullish()
    .describe('Above 1 lowers the score of tokens that the prompt or the output has. Must be above 0.'),
  length_penalty: laxNumber()
    .prefault(1)
    .describe('For beam search: the power of the length that scores are divided by.'),
  stop_token_ids: tokenIds.describe('Tokens that end a choice, beside those of the model.'),
  include_stop_str_in_output: laxBoolean()
    .prefault(false)
    .describe('Keeps the matched stop text in the output.'),
  ignore_eos: laxBoolean().prefault(false).describe('Goes on after the model’s own end tokens.'),
  min_tokens: laxInteger().prefault(0).describe('No choice ends before this many tokens.'),
  skip_special_tokens: promptFields.skip_special_tokens,
  spaces_between_special_tokens: promptFields.spaces_between_special_tokens,
  truncate_prompt_tokens: promptFields.truncate_prompt_tokens,
  prompt_logprobs: laxIntegerButNoText()
    .nullish()
    .describe('Adds the log probabilities of the prompt’s tokens, with this many alternatives each.'),
  allowed_token_ids: tokenIds.describe('Only these tokens may be generated.'),
  bad_words: boundedList(z.string()).prefault([]).describe('Words that must not be generated.'),
} as const;

/** What stands last in the published table of both; a new parameter follows here. */
export const latestFields = {
  repetition_detection: repetitionDetection.nullish(),
} as const;
