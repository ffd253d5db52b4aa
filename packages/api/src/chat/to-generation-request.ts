// A chat request of the wire -> a request of the engine. Null means "use the default" and is left out. Fields that
// completions share are mapped by `toGenerationSettings` for both.

import type {
  ChatMessage,
  ChatTemplateOptions,
  GenerationRequest,
  LogitBias,
  SamplingParams,
  StopConditions,
} from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { DIRECT_FIELDS } from '../generation/parameter-support.ts';
import { toCallStyle, toConstraint } from '../generation/to-constraint.ts';
import { ApiError } from '../trpc/errors.ts';
import { toTemplateTool, toTools } from './to-tools.ts';

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

/** Maps a validated chat. Throws: `invalid_parameter` for a wrong key of `logit_bias` or a wrong constraint. */
export function toGenerationRequest(
  request: ChatCompletionRequest,
  messages: readonly ChatMessage[],
  cachePartition: string,
): GenerationRequest {
  const { logprobs, top_logprobs: topCount, prompt_logprobs: ofPrompt, echo } = request;
  const tools = toTools(request);
  const style = tools === null ? null : toCallStyle(request);
  return {
    // The engine itself shows the tools that it calls to the template.
    prompt: { messages, template: toTemplate(tools === null ? request : { ...request, tools: null }) },
    ...(tools !== null && { tools: { ...tools, ...(style !== null && { style }) } }),
    // Source: the service this wire format comes from shows the prompt's probabilities with every echo.
    ...toGenerationSettings(
      { ...request, prompt_logprobs: ofPrompt ?? (echo ? topCount : null) },
      cachePartition,
    ),
    ...(logprobs && { logprobs: { topCount } }),
  };
}

/**
 * Everything but the prompt and the log probabilities of generated tokens.
 * Throws: `invalid_parameter` for a key of `logit_bias` that is not a token id, and for constraints that contradict.
 */
export function toGenerationSettings(
  request: SharedFields,
  cachePartition: string,
): Omit<GenerationRequest, 'prompt' | 'logprobs'> {
  const { repetition_detection: repetition, truncate_prompt_tokens: keep } = request;
  const direct = toDirectFields(request);
  const { n, priority, prompt_logprobs: ofPrompt, stream, use_beam_search: isSearch } = request;
  const constraint = toConstraint(request);
  return {
    ...direct,
    sampling: { ...direct.sampling, ...toSampling(request) },
    stop: { ...direct.stop, ...toStop(request) },
    // Chunks have no place for them, and a search does not compute them. Source: as above.
    ...(ofPrompt != null && !stream && !isSearch && { promptLogprobs: { topCount: ofPrompt } }),
    ...(repetition != null &&
      repetition.max_pattern_size > 0 && {
        repetitionDetection: {
          minPatternSize: repetition.min_pattern_size,
          maxPatternSize: repetition.max_pattern_size,
          minCount: repetition.min_count,
        },
      }),
    ...(isSearch && { beamSearch: { width: n, lengthPenalty: request.length_penalty } }),
    // No prompt is longer than a double can count.
    ...(keep != null && { truncatePromptTokens: Number(keep) }),
    ...(constraint !== null && { constraint }),
    ...(priority !== 0 && { priority }),
    cachePartition,
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
    ...(request.continue_final_message && { continueFinalMessage: true }),
    ...(request.add_special_tokens && { addSpecialTokens: true }),
    ...(tools != null && { tools: tools.map(toTemplateTool) }),
    ...(template != null && { template }),
    variables: {
      // An effort implies thinking, in templates where thinking is a separate switch.
      ...(effort != null && { enable_thinking: true }),
      ...variables,
      ...(documents != null && { documents }),
      ...(effort != null && { reasoning_effort: effort }),
    },
  };
}

/** The fields whose value the engine takes as it is. */
function toDirectFields(request: SharedFields): Pick<GenerationRequest, 'sampling' | 'stop'> {
  const direct: Record<string, unknown> = {};
  for (const [wireField, path] of DIRECT_FIELDS) {
    const value = (request as Readonly<Record<string, unknown>>)[wireField];
    if (value == null) continue;
    const [group, field] = path as [string, string?];
    if (field === undefined) direct[group] = value;
    else direct[group] = { ...(direct[group] as object | undefined), [field]: value };
  }
  return direct;
}

/** The sampling settings that the wire writes in another way. */
function toSampling({ top_k: topK, seed, logit_bias: bias }: SharedFields): Partial<SamplingParams> {
  return {
    ...(topK != null && { topK: topK === -1 ? 0 : topK }),
    ...(bias != null && { logitBias: toLogitBias(bias) }),
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

function toStop(request: SharedFields): StopConditions {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  return maxTokens == null ? {} : { maxTokens };
}
