// Sampling, stopping and log probability fields of a chat request. Ranges that depend on the model or the operator are
// checked later, by the api.

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

/** Maximum number of entries of `logit_bias`. */
export const MAX_LOGIT_BIAS_COUNT = 4_096;

/** Repetition detection: ends a choice whose output repeats itself. All zero means off. */
export const repetitionDetection = z
  .object({
    max_pattern_size: laxInteger({ minimum: 0 })
      .prefault(0)
      .describe('Longest repeated pattern, in tokens; 0 turns detection off.'),
    min_pattern_size: laxInteger({ minimum: 0 })
      .prefault(0)
      .describe('Shortest repeated pattern, in tokens.'),
    min_count: laxInteger({ minimum: 0 }).prefault(0).describe('Minimum number of repetitions; at least 2.'),
  })
  .check(context => {
    const { max_pattern_size, min_pattern_size, min_count } = context.value;
    if (min_pattern_size > max_pattern_size) {
      reportRule(context, 'min_pattern_size', 'min_pattern_size must not be above max_pattern_size');
    } else if (max_pattern_size > 0 && min_count < 2) {
      reportRule(context, 'min_count', 'min_count must be at least 2 when max_pattern_size is above 0');
    }
  })
  .describe('Ends generation early when a pattern of tokens repeats.');
export type RepetitionDetection = z.output<typeof repetitionDetection>;

const tokenIds = laxTokenIdList().nullish();

// Without a default here: an explicit 0 turns the penalty off, an absent one takes the model's generation_config.json.
const penalty = (description: string) =>
  laxNumber()
    .nullish()
    .describe(`${description} -2 to 2. Default: the value in the model’s generation_config.json, else 0.`);

export const samplingFields = {
  frequency_penalty: penalty(
    'Lowers the logits of tokens in proportion to their count in the output so far.',
  ),
  logit_bias: boundedRecord(laxNumber(), MAX_LOGIT_BIAS_COUNT)
    .nullish()
    .describe('Added to the logits of tokens: keys are token ids, values are clamped to -100 to 100.'),
  presence_penalty: penalty('Lowers the logits of tokens that occur in the output so far.'),
  seed: laxBigInteger(-WIRE_INT64_LIMIT, WIRE_INT64_LIMIT)
    .nullish()
    .describe('Sampling seed: the same request with the same seed gives the same output. -1 means no seed.'),
  temperature: laxNumber()
    .nullish()
    .describe('Sampling temperature, 0 to 2. 0 is greedy decoding; higher values give more varied output.'),
  top_p: laxNumber()
    .nullish()
    .describe(
      'Nucleus sampling: samples from the most probable tokens whose probabilities sum to this. Above 0, at most 1.',
    ),
} as const;

export const stoppingFields = {
  max_tokens: laxInteger()
    .nullish()
    .describe('Older name of `max_completion_tokens`, which takes precedence when both are given.')
    .meta({ deprecated: true }),
  max_completion_tokens: laxInteger()
    .nullish()
    .describe('Maximum number of tokens to generate per choice. Default: the rest of the context.'),
  stop: z
    .union([z.string(), boundedList(z.string())])
    .nullish()
    .transform((stop): string[] => (typeof stop === 'string' ? [stop] : (stop ?? [])))
    .prefault([])
    .describe(
      'Stop strings: one text or a list of texts that end a choice. The output ends before the match.',
    ),
} as const;

export const logprobFields = {
  logprobs: nullAsDefault(laxBoolean(), false).describe('Adds the log probability of every generated token.'),
  // Text is refused, because the rules on these two fields apply to the JSON value. Source: upstream behaviour.
  top_logprobs: nullAsDefault(laxIntegerButNoText(), 0).describe(
    'With `logprobs`: number of most probable tokens to list at each position, at most 20.',
  ),
  return_tokens_as_token_ids: laxBoolean()
    .nullish()
    .describe('With `logprobs`: writes tokens as `token_id:<id>` instead of their text.'),
  return_token_ids: laxBoolean()
    .nullish()
    .describe(
      'Adds token ids to the text. In a stream, the first chunk has `prompt_token_ids` and each chunk the `token_ids` ' +
        'of its text.',
    ),
} as const;

/** The extensions of the published table that chats and completions have in a row, in its order. */
export const extendedFields = {
  use_beam_search: laxBoolean()
    .prefault(false)
    .describe(
      'Beam search for the `n` most probable outputs instead of sampling. Fields about sampling, stopping and prompt ' +
        'log probabilities have no effect then; structured outputs are refused.',
    ),
  top_k: laxInteger()
    .nullish()
    .describe('Samples from this many most probable tokens. 0 and -1 turn it off.'),
  min_p: laxNumber()
    .nullish()
    .describe('Excludes tokens whose probability is below this share of the highest probability. 0 to 1.'),
  repetition_penalty: laxNumber()
    .nullish()
    .describe('Above 1 lowers the logits of tokens that occur in the prompt or the output. Must be above 0.'),
  length_penalty: laxNumber()
    .prefault(1)
    .describe('Beam search: exponent of the length that scores are divided by.'),
  stop_token_ids: tokenIds.describe(
    'Token ids that end a choice, in addition to the end tokens of the model.',
  ),
  include_stop_str_in_output: laxBoolean()
    .prefault(false)
    .describe('Keeps the matched stop string in the output.'),
  ignore_eos: laxBoolean().prefault(false).describe('Continues after the end tokens (EOS) of the model.'),
  min_tokens: laxInteger().prefault(0).describe('Minimum number of tokens before a choice may end.'),
  skip_special_tokens: promptFields.skip_special_tokens,
  spaces_between_special_tokens: promptFields.spaces_between_special_tokens,
  truncate_prompt_tokens: promptFields.truncate_prompt_tokens,
  prompt_logprobs: laxIntegerButNoText()
    .nullish()
    .describe('Adds the log probabilities of the prompt’s tokens, with this many alternatives each.'),
  allowed_token_ids: tokenIds.describe('Allows only these token ids.'),
  bad_words: boundedList(z.string()).prefault([]).describe('Words that must not be generated.'),
} as const;

/** Last fields in the published table of both; a new parameter follows here. */
export const latestFields = {
  repetition_detection: repetitionDetection.nullish(),
} as const;
