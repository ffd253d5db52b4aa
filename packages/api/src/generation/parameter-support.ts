// The one table of which request fields have an effect here, what the engine calls them, and which have none
// on purpose; the OpenAPI document and the docs page show it, so that nothing is ignored silently.

import type { ChatCompletionRequest } from '@ortler/schemas';

/**
 * - `served`: has its effect, or its own refusal in validate-chat-request.ts or the engine.
 *   `engineField`: what the engine calls it, in its errors; `isDirect`: the value goes there as it is, unless it is null.
 * - `no-effect`: any valid value is right, for the reason given.
 */
export type ParameterSupport =
  | { readonly kind: 'served'; readonly engineField?: string; readonly isDirect?: boolean }
  | { readonly kind: 'no-effect'; readonly why: string };

const served: ParameterSupport = { kind: 'served' };
const namedAs = (engineField: string): ParameterSupport => ({ kind: 'served', engineField });
const servedAs = (engineField: string): ParameterSupport => ({ kind: 'served', engineField, isDirect: true });
const noEffect = (why: string): ParameterSupport => ({ kind: 'no-effect', why });

/** Support of every field of the request. Source of the reasons: the reference behaviour of each field. */
export const PARAMETER_SUPPORT: {
  readonly [Field in keyof Required<ChatCompletionRequest>]: ParameterSupport;
} = {
  messages: served,
  model: served,
  frequency_penalty: servedAs('sampling.frequencyPenalty'),
  logit_bias: namedAs('sampling.logitBias'),
  logprobs: served,
  top_logprobs: served,
  max_tokens: served,
  max_completion_tokens: served,
  n: servedAs('choiceCount'),
  presence_penalty: servedAs('sampling.presencePenalty'),
  response_format: served,
  seed: namedAs('sampling.seed'),
  stop: servedAs('stop.strings'),
  stream: served,
  stream_options: served,
  temperature: servedAs('sampling.temperature'),
  top_p: servedAs('sampling.topP'),
  tools: namedAs('tools'),
  tool_choice: served,
  reasoning_effort: served,
  include_reasoning: served,
  parallel_tool_calls: served,
  user: noEffect('it names an end user for records that are not kept'),
  use_beam_search: namedAs('beamSearch'),
  top_k: namedAs('sampling.topK'),
  min_p: servedAs('sampling.minP'),
  repetition_penalty: servedAs('sampling.repetitionPenalty'),
  length_penalty: namedAs('beamSearch.lengthPenalty'),
  stop_token_ids: servedAs('stop.tokenIds'),
  include_stop_str_in_output: servedAs('stop.includeInOutput'),
  ignore_eos: servedAs('stop.ignoreEos'),
  min_tokens: servedAs('stop.minTokens'),
  skip_special_tokens: servedAs('skipSpecialTokens'),
  spaces_between_special_tokens: noEffect(
    'tokenizers of the kinds served here put no spaces there, whichever value is sent',
  ),
  truncate_prompt_tokens: namedAs('truncatePromptTokens'),
  prompt_logprobs: namedAs('promptLogprobs'),
  allowed_token_ids: servedAs('sampling.allowedTokenIds'),
  bad_words: servedAs('badWords'),
  echo: served,
  add_generation_prompt: namedAs('prompt.template.addGenerationPrompt'),
  continue_final_message: namedAs('prompt.template.continueFinalMessage'),
  add_special_tokens: served,
  documents: served,
  chat_template: namedAs('prompt.template.template'),
  chat_template_kwargs: served,
  mm_processor_kwargs: noEffect('only models that see or hear read it'),
  structured_outputs: served,
  priority: namedAs('priority'),
  request_id: served,
  return_tokens_as_token_ids: served,
  return_token_ids: served,
  cache_salt: namedAs('cachePartition'),
  kv_transfer_params: noEffect('without a key-value connector it is ignored and answered with null'),
  engine_xargs: noEffect('it is read by custom extensions, and there are none'),
  vllm_xargs: noEffect('engine_xargs has none'),
  repetition_detection: namedAs('repetitionDetection'),
  guided_json: served,
  guided_regex: served,
  guided_choice: served,
  guided_grammar: served,
  functions: served,
  function_call: served,
};

/** Remark of the documents beside the meaning of a field; null where there is none. */
export function describeSupport(field: string): string | null {
  const support = (PARAMETER_SUPPORT as Readonly<Record<string, ParameterSupport>>)[field];
  return support?.kind === 'no-effect' ? `Accepted without effect: ${support.why}.` : null;
}

/** Wire field of each field of the engine that one wire field stands for. */
export const WIRE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(PARAMETER_SUPPORT).flatMap(([wireField, support]) =>
    support.kind === 'served' && support.engineField !== undefined ? [[support.engineField, wireField]] : [],
  ),
);

/** The fields whose value the engine takes as it is: wire field, and path in the engine's request. */
export const DIRECT_FIELDS: readonly (readonly [wireField: string, enginePath: readonly string[]])[] =
  Object.entries(PARAMETER_SUPPORT).flatMap(([wireField, support]) =>
    support.kind === 'served' && support.isDirect === true && support.engineField !== undefined
      ? [[wireField, support.engineField.split('.')] as const]
      : [],
  );
