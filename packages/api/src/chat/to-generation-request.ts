// A chat request of the wire -> a request of the engine. Null means "use the default" and is left out. Fields that
// completions share are mapped by `toGenerationSettings` for both.

import type { ChatTemplateOptions, GenerationRequest, SamplingParams, StopConditions } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { toTemplateMessages } from './to-template-messages.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Fields that chats and completions have in common, with the same types and the same meaning. */
export type SharedFields = Omit<
  ChatCompletionRequest,
  'messages' | 'logprobs' | 'top_logprobs' | keyof TemplateFields
>;
/** Fields about the chat template, where chats and tokenize requests have them. */
export type TemplateFields = Pick<ChatCompletionRequest, 'add_generation_prompt'> &
  Partial<OtherTemplateFields>;
type OtherTemplateFields = Pick<
  ChatCompletionRequest,
  | 'add_special_tokens'
  | 'chat_template'
  | 'chat_template_kwargs'
  | 'continue_final_message'
  | 'documents'
  | 'echo'
  | 'include_reasoning'
  | 'mm_processor_kwargs'
  | 'parallel_tool_calls'
  | 'reasoning_effort'
  | 'tool_choice'
  | 'tools'
>;

/** Maps a validated request. Throws: `invalid_parameter` for message content that is not text. */
export function toGenerationRequest(request: ChatCompletionRequest): GenerationRequest {
  return {
    prompt: { kind: 'chat', messages: toTemplateMessages(request.messages), template: toTemplate(request) },
    ...toGenerationSettings(request),
  };
}

/** Everything but the prompt and the log probabilities of generated tokens. */
export function toGenerationSettings(request: SharedFields): Omit<GenerationRequest, 'prompt' | 'logprobs'> {
  return {
    sampling: toSampling(request),
    stop: toStop(request),
    choiceCount: request.n,
    skipSpecialTokens: request.skip_special_tokens,
  };
}

/** How the messages become text. */
export function toTemplate(request: TemplateFields): ChatTemplateOptions {
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

function toSampling({ temperature, top_p, top_k, min_p, seed }: SharedFields): Partial<SamplingParams> {
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

function toStop(request: SharedFields): StopConditions {
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
