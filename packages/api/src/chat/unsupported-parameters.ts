// The one table of what this version does with each request field. A field that is `later` is accepted only when it
// is absent or says what the server does anyway; any other value is a clear 400, never silently ignored.

import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';

/**
 * - `served`: read by validate-chat-request.ts or to-generation-request.ts.
 * - `no-effect`: any valid value is right, for the reason given.
 * - `later`: refused unless `isDefault`.
 */
export type ParameterSupport =
  | { readonly kind: 'served' }
  | { readonly kind: 'no-effect'; readonly why: string }
  | { readonly kind: 'later'; readonly accepted: string; readonly isDefault: (value: unknown) => boolean };

const served: ParameterSupport = { kind: 'served' };
const noEffect = (why: string): ParameterSupport => ({ kind: 'no-effect', why });
const later = (accepted: string, isDefault: (value: unknown) => boolean): ParameterSupport => ({
  kind: 'later',
  accepted,
  isDefault,
});

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const only = (neutral: unknown) =>
  later(JSON.stringify(neutral), value => isAbsent(value) || value === neutral);
const absentOnly = later('null', isAbsent);
const emptyOnly = later('an empty value', value => isAbsent(value) || isEmpty(value));

/** Support of every field of the request. Source of the reasons: the reference behaviour of each field. */
export const PARAMETER_SUPPORT: {
  readonly [Field in keyof Required<ChatCompletionRequest>]: ParameterSupport;
} = {
  messages: served,
  model: served,
  temperature: served,
  top_p: served,
  top_k: served,
  min_p: served,
  seed: served,
  n: served,
  max_tokens: served,
  max_completion_tokens: served,
  min_tokens: served,
  stop: served,
  stop_token_ids: served,
  include_stop_str_in_output: served,
  ignore_eos: served,
  skip_special_tokens: served,
  stream: served,
  stream_options: served,
  return_token_ids: served,
  request_id: served,
  tools: served,
  tool_choice: served,
  documents: served,
  chat_template: served,
  chat_template_kwargs: served,
  reasoning_effort: served,
  add_generation_prompt: served,
  logprobs: only(false),
  top_logprobs: only(0),
  prompt_logprobs: absentOnly,
  frequency_penalty: only(0),
  presence_penalty: only(0),
  repetition_penalty: only(1),
  logit_bias: emptyOnly,
  bad_words: emptyOnly,
  allowed_token_ids: absentOnly,
  use_beam_search: only(false),
  repetition_detection: later('all sizes 0', value => isAbsent(value) || hasOnlyZeros(value)),
  response_format: later('{"type": "text"}', value => isAbsent(value) || isTextFormat(value)),
  structured_outputs: absentOnly,
  echo: only(false),
  continue_final_message: only(false),
  add_special_tokens: only(false),
  truncate_prompt_tokens: absentOnly,
  spaces_between_special_tokens: only(true),
  priority: only(0),
  include_reasoning: noEffect('no model here has its reasoning split off: `reasoning` is null either way'),
  parallel_tool_calls: noEffect('it trims tool calls, and with tool_choice none there are none'),
  length_penalty: noEffect('only beam search reads it, and beam search is refused'),
  return_tokens_as_token_ids: noEffect('it changes how logprobs are written, and logprobs are refused'),
  cache_salt: noEffect('it keeps cached prompts apart, and no prompt is cached between requests'),
  user: noEffect('the reference ignores it'),
  mm_processor_kwargs: noEffect('only models that see or hear read it'),
  kv_transfer_params: noEffect('without a key-value connector it is ignored and answered with null'),
  engine_xargs: noEffect('it is read by custom extensions, and there are none'),
  vllm_xargs: noEffect('other name of engine_xargs'),
};

/**
 * Fields that a request has not count as left out, so other requests with fields of the same meaning may be checked too.
 * Throws: `unsupported_parameter` naming the first field whose value a later version will serve.
 */
export function refuseUnsupportedParameters(request: Partial<ChatCompletionRequest>): void {
  const fields = Object.keys(PARAMETER_SUPPORT) as (keyof typeof PARAMETER_SUPPORT)[];
  for (const field of fields) {
    const support = PARAMETER_SUPPORT[field];
    if (support.kind !== 'later' || support.isDefault(request[field])) continue;
    throw new ApiError(
      'unsupported_parameter',
      `${field} is not supported yet. Leave it out or send ${support.accepted}.`,
      { param: field },
    );
  }
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && Object.keys(value!).length === 0;
}

function hasOnlyZeros(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(size => !size);
}

function isTextFormat(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'text';
}
