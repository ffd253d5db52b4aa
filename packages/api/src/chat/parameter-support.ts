// The one table of which request fields have an effect here and which are right to have none; it is told in the OpenAPI
// document and the docs page, so that nothing is ignored silently.

import type { ChatCompletionRequest } from '@ortler/schemas';

/**
 * - `served`: has its effect, or its own refusal in validate-chat-request.ts or the engine.
 * - `no-effect`: any valid value is right, for the reason given.
 */
export type ParameterSupport =
  | { readonly kind: 'served' }
  | { readonly kind: 'no-effect'; readonly why: string };

const served: ParameterSupport = { kind: 'served' };
const noEffect = (why: string): ParameterSupport => ({ kind: 'no-effect', why });

/** Support of every field of the request. Source of the reasons: the reference behaviour of each field. */
export const PARAMETER_SUPPORT: {
  readonly [Field in keyof Required<ChatCompletionRequest>]: ParameterSupport;
} = {
  messages: served,
  model: served,
  frequency_penalty: served,
  logit_bias: served,
  logprobs: served,
  top_logprobs: served,
  max_tokens: served,
  max_completion_tokens: served,
  n: served,
  presence_penalty: served,
  response_format: served,
  seed: served,
  stop: served,
  stream: served,
  stream_options: served,
  temperature: served,
  top_p: served,
  tools: served,
  tool_choice: served,
  reasoning_effort: served,
  include_reasoning: served,
  parallel_tool_calls: noEffect('it trims tool calls, and with tool_choice none there are none'),
  user: noEffect('it names an end user for records that are not kept'),
  use_beam_search: served,
  top_k: served,
  min_p: served,
  repetition_penalty: served,
  length_penalty: served,
  stop_token_ids: served,
  include_stop_str_in_output: served,
  ignore_eos: served,
  min_tokens: served,
  skip_special_tokens: served,
  spaces_between_special_tokens: noEffect(
    'tokenizers of the kinds served here put no spaces there, whichever value is sent',
  ),
  truncate_prompt_tokens: served,
  prompt_logprobs: served,
  allowed_token_ids: served,
  bad_words: served,
  echo: served,
  add_generation_prompt: served,
  continue_final_message: served,
  add_special_tokens: served,
  documents: served,
  chat_template: served,
  chat_template_kwargs: served,
  mm_processor_kwargs: noEffect('only models that see or hear read it'),
  structured_outputs: served,
  priority: served,
  request_id: served,
  return_tokens_as_token_ids: served,
  return_token_ids: served,
  cache_salt: served,
  kv_transfer_params: noEffect('without a key-value connector it is ignored and answered with null'),
  engine_xargs: noEffect('it is read by custom extensions, and there are none'),
  vllm_xargs: noEffect('engine_xargs has none'),
  repetition_detection: served,
};

/** What the documents add to the meaning of a field; null where nothing is special. */
export function describeSupport(field: string): string | null {
  const support = (PARAMETER_SUPPORT as Readonly<Record<string, ParameterSupport>>)[field];
  return support?.kind === 'no-effect' ? `Accepted without effect: ${support.why}.` : null;
}
