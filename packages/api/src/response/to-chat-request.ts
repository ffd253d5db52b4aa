// A request of POST /v1/responses -> the chat request that means the same. Both endpoints share everything after that:
// checks, template, sampling, constraints.

import {
  type ChatCompletionRequest,
  type ChatCompletionRequestInput,
  type ChatMessage,
  type ChatToolChoice,
  chatCompletionRequest,
  type ResponseRequest,
  type ResponseToolChoice,
  toChatValidationError,
} from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';

/** Fields that have the same name and meaning in both requests. */
const SHARED_FIELDS = [
  'model',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'top_k',
  'min_p',
  'seed',
  'logit_bias',
  'allowed_token_ids',
  'bad_words',
  'stop',
  'stop_token_ids',
  'include_stop_str_in_output',
  'stream',
  'ignore_eos',
  'min_tokens',
  'skip_special_tokens',
  'structured_outputs',
  'repetition_detection',
  'cache_salt',
  'priority',
] as const satisfies readonly (keyof ResponseRequest & keyof ChatCompletionRequest)[];

/** Values of those fields by which a request says nothing; strict servers would refuse some of the fields. */
const SILENT_VALUES: Readonly<Record<string, unknown>> = {
  include_stop_str_in_output: false,
  ignore_eos: false,
  min_tokens: 0,
  skip_special_tokens: true,
  priority: 0,
};
const SILENT_WHEN_EMPTY: ReadonlySet<string> = new Set(['stop', 'bad_words']);

/** The chat request as a client would write it: without fields that the response request leaves out. */
export function toChatBody(
  request: ResponseRequest,
  messages: readonly ChatMessage[],
): ChatCompletionRequestInput {
  const { reasoning, text, truncation, top_logprobs: topCount, max_output_tokens: maxTokens } = request;
  const effort = reasoning?.effort;
  const variables = {
    ...(effort === 'none' && { enable_thinking: false }),
    ...request.chat_template_kwargs,
  };
  const shared = SHARED_FIELDS.map(field => [field, request[field]] as const).filter(
    ([field, value]) => !isSilent(field, value),
  );
  return {
    ...Object.fromEntries(shared),
    messages: [...messages],
    ...(Object.keys(variables).length > 0 && { chat_template_kwargs: variables }),
    ...(effort != null && effort !== 'none' && { reasoning_effort: effort }),
    ...(maxTokens != null && { max_completion_tokens: maxTokens }),
    ...(truncation === 'auto' && { truncate_prompt_tokens: -1 }),
    ...(wantsLogprobs(request) && { logprobs: true, top_logprobs: topCount ?? 0 }),
    ...toResponseFormat(text?.format),
    ...toTools(request),
  };
}

function isSilent(field: string, value: unknown): boolean {
  if (value == null || value === SILENT_VALUES[field]) return true;
  return SILENT_WHEN_EMPTY.has(field) && (value as readonly unknown[]).length === 0;
}

/** Throws: `invalid_parameter` in names of the chat request; see `to-response-error.ts`. */
export function toChatRequest(body: ChatCompletionRequestInput): ChatCompletionRequest {
  const result = chatCompletionRequest.safeParse(body);
  if (result.success) return result.data;
  // Its own schema has checked the fields; what is left is the size of a continued conversation.
  const { message, param } = toChatValidationError(result.error, body);
  throw new ApiError('invalid_parameter', message, { param });
}

function wantsLogprobs({ include, top_logprobs: topCount }: ResponseRequest): boolean {
  return include?.includes('message.output_text.logprobs') === true || (topCount ?? 0) > 0;
}

function toResponseFormat(
  format: NonNullable<ResponseRequest['text']>['format'],
): Pick<ChatCompletionRequestInput, 'response_format'> {
  if (format == null) return {};
  if (format.type !== 'json_schema') return { response_format: format };
  const { name, schema, strict } = format;
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
}

function toTools({
  tools,
  tool_choice: choice,
}: ResponseRequest): Pick<ChatCompletionRequestInput, 'tools' | 'tool_choice'> {
  return {
    ...(tools?.length && {
      tools: tools.map(({ name, description, parameters, strict }) => ({
        type: 'function' as const,
        function: { name, description, parameters, strict },
      })),
    }),
    // Beside tools it is always there, because a chat request without it may mean none.
    tool_choice: tools?.length
      ? toToolChoice(choice ?? 'auto')
      : choice === 'auto'
        ? null
        : toToolChoice(choice ?? null),
  };
}

function toToolChoice(choice: ResponseToolChoice | null): ChatToolChoice | null {
  if (choice === null || typeof choice === 'string') return choice;
  return { type: 'function', function: { name: choice.name } };
}
