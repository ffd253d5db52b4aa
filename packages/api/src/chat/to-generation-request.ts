// A chat request of the wire -> a request of the engine. Null means "use the default" and is left out.

import type { ChatTemplateOptions, GenerationRequest, SamplingParams, StopConditions } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { toTemplateMessages } from './to-template-messages.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Maps a validated request. Throws: `invalid_parameter` for message content that is not text. */
export function toGenerationRequest(request: ChatCompletionRequest): GenerationRequest {
  return {
    prompt: { kind: 'chat', messages: toTemplateMessages(request.messages), template: toTemplate(request) },
    sampling: toSampling(request),
    stop: toStop(request),
    choiceCount: request.n,
    skipSpecialTokens: request.skip_special_tokens,
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
    ...(tools != null && { tools }),
    ...(template != null && { template }),
    variables: {
      ...variables,
      ...(documents != null && { documents }),
      ...(effort != null && { reasoning_effort: effort }),
    },
  };
}

function toSampling({
  temperature,
  top_p,
  top_k,
  min_p,
  seed,
}: ChatCompletionRequest): Partial<SamplingParams> {
  return {
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(top_k != null && { topK: top_k === -1 ? 0 : top_k }),
    ...(min_p != null && { minP: min_p }),
    ...(seed != null && BigInt(seed) !== -1n && { seed: clampToInt64(BigInt(seed)) }),
  };
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
