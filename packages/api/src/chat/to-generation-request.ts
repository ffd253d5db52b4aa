// A chat request of the wire -> a request of the engine. Null means "use the default" and is left out.

import type {
  ChatMessage,
  ChatTemplateOptions,
  GenerationRequest,
  LogitBias,
  SamplingParams,
  StopConditions,
} from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** What a request becomes part of. */
export interface GenerationSurroundings {
  readonly messages: readonly ChatMessage[];
  readonly cachePartition: string;
  /** Special tokens that the answer is parsed by. */
  readonly shownSpecialTokens: readonly string[];
}

/** Maps a validated request. Throws: `invalid_parameter` for a key of `logit_bias` that is no token id. */
export function toGenerationRequest(
  request: ChatCompletionRequest,
  { messages, cachePartition, shownSpecialTokens }: GenerationSurroundings,
): GenerationRequest {
  const { truncate_prompt_tokens: truncation, repetition_detection: repetition } = request;
  return {
    prompt: { kind: 'chat', messages, template: toTemplate(request) },
    sampling: toSampling(request),
    stop: toStop(request),
    choiceCount: request.n,
    skipSpecialTokens: request.skip_special_tokens,
    ...(shownSpecialTokens.length > 0 && { shownSpecialTokens }),
    ...(request.bad_words.length > 0 && { badWords: request.bad_words }),
    ...(request.logprobs && { logprobs: { topCount: request.top_logprobs } }),
    ...toPromptLogprobs(request),
    ...(repetition != null &&
      repetition.max_pattern_size > 0 && {
        repetitionDetection: {
          minPatternSize: repetition.min_pattern_size,
          maxPatternSize: repetition.max_pattern_size,
          minCount: repetition.min_count,
        },
      }),
    ...(request.use_beam_search && {
      beamSearch: { width: request.n, lengthPenalty: request.length_penalty },
    }),
    // No prompt is longer than a double can count.
    ...(truncation != null && { truncatePromptTokens: Number(truncation) }),
    ...(request.priority !== 0 && { priority: request.priority }),
    cachePartition,
  };
}

function toTemplate(request: ChatCompletionRequest): ChatTemplateOptions {
  // Fields of the request win over variables of the same name, which therefore never reach the template.
  const {
    add_generation_prompt: _,
    continue_final_message: __,
    ...variables
  } = request.chat_template_kwargs ?? {};
  const { documents, reasoning_effort: effort, tools, chat_template: template } = request;
  return {
    addGenerationPrompt: request.add_generation_prompt,
    ...(request.continue_final_message && { continueFinalMessage: true }),
    ...(request.add_special_tokens && { addSpecialTokens: true }),
    ...(tools != null && { tools }),
    ...(template != null && { template }),
    variables: {
      // Whoever asks for an effort wants thinking, in templates where that is a switch of its own.
      ...(effort != null && { enable_thinking: true }),
      ...variables,
      ...(documents != null && { documents }),
      ...(effort != null && { reasoning_effort: effort }),
    },
  };
}

function toSampling(request: ChatCompletionRequest): Partial<SamplingParams> {
  const { temperature, top_p, top_k, min_p, seed, logit_bias: bias } = request;
  const { frequency_penalty, presence_penalty, repetition_penalty, allowed_token_ids: allowed } = request;
  return {
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(top_k != null && { topK: top_k === -1 ? 0 : top_k }),
    ...(min_p != null && { minP: min_p }),
    ...(frequency_penalty !== 0 && { frequencyPenalty: frequency_penalty }),
    ...(presence_penalty !== 0 && { presencePenalty: presence_penalty }),
    ...(repetition_penalty != null && { repetitionPenalty: repetition_penalty }),
    ...(bias != null && { logitBias: toLogitBias(bias) }),
    ...(allowed != null && { allowedTokenIds: allowed }),
    ...(seed != null && BigInt(seed) !== -1n && { seed: clampToInt64(BigInt(seed)) }),
  };
}

function toLogitBias(bias: Readonly<Record<string, number>>): LogitBias[] {
  return Object.entries(bias).map(([key, amount]) => {
    // Written as any integer may be; a key past the vocabulary is refused by the engine, which knows it.
    if (!/^\s*[-+]?\d{1,15}\s*$/.test(key)) {
      throw new ApiError(
        'invalid_parameter',
        `logit_bias has the key ${JSON.stringify(key.slice(0, 50))}; keys must be token ids in decimal digits.`,
        { param: 'logit_bias' },
      );
    }
    return { tokenId: Number(key), bias: amount };
  });
}

// The wire's bounds are those of int64 rounded outwards to doubles, so the outermost values are just past int64.
function clampToInt64(seed: bigint): bigint {
  if (seed > INT64_MAX) return INT64_MAX;
  return seed < INT64_MIN ? INT64_MIN : seed;
}

function toStop(request: ChatCompletionRequest): StopConditions {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  const { stop: strings, stop_token_ids: tokenIds } = request;
  return {
    strings,
    ...(tokenIds != null && { tokenIds }),
    includeInOutput: request.include_stop_str_in_output,
    ignoreEos: request.ignore_eos,
    ...(maxTokens != null && { maxTokens }),
    minTokens: request.min_tokens,
  };
}

// Source: the service this wire format comes from. An echo shows the prompt's probabilities too, with as many
// alternatives as those of the answer; chunks have no place for them, and a beam search does not compute them.
function toPromptLogprobs(request: ChatCompletionRequest): Pick<GenerationRequest, 'promptLogprobs'> {
  const asked = request.prompt_logprobs ?? (request.echo ? request.top_logprobs : null);
  if (asked === null || request.stream || request.use_beam_search) return {};
  return { promptLogprobs: { topCount: asked } };
}
