// Rules between fields, and values that only a running server can judge. Ranges of single fields are checked by the
// schema or by the engine, once each.

import type { EngineInfo } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';
import { refuseUnsupportedParameters } from './unsupported-parameters.ts';

/** Most choices of one request: each one is a sequence in the queue. */
export const MAX_CHOICE_COUNT = 128;
/** Most messages of one request. */
export const MAX_MESSAGE_COUNT = 4_096;

/** Template variables that the server fills; a request may not replace them. */
const RESERVED_VARIABLES = ['messages', 'tools', 'chat_template', 'tokenize'] as const;

/** Throws: `invalid_parameter` or `unsupported_parameter`, naming the field. */
export function validateChatRequest(request: ChatCompletionRequest, model: EngineInfo): void {
  checkMessages(request);
  checkChoices(request, model);
  checkTemplate(request);
  checkStreamOptions(request);
  checkLogprobs(request);
  refuseUnsupportedParameters(request);
}

function checkMessages({ messages }: ChatCompletionRequest): void {
  const { length } = messages;
  refuseIf(length === 0, 'messages', 'messages must hold at least one message.');
  refuseIf(length > MAX_MESSAGE_COUNT, 'messages', `messages holds ${length} items; at most ${MAX_MESSAGE_COUNT}.`);
}

function checkChoices({ n, temperature }: ChatCompletionRequest, model: EngineInfo): void {
  const choiceCount = n ?? 1;
  refuseIf(choiceCount < 1, 'n', `n must be at least 1; got ${choiceCount}.`);
  refuseIf(choiceCount > MAX_CHOICE_COUNT, 'n', `n must be at most ${MAX_CHOICE_COUNT}; got ${choiceCount}.`);
  const effectiveTemperature = temperature ?? model.samplingDefaults.temperature ?? 1;
  refuseIf(
    effectiveTemperature === 0 && choiceCount > 1,
    'n',
    `n must be 1 at temperature 0, where all answers are equal; got ${choiceCount}.`,
  );
}

function checkTemplate(request: ChatCompletionRequest): void {
  const variables = request.chat_template_kwargs ?? {};
  for (const name of RESERVED_VARIABLES)
    refuseIf(name in variables, 'chat_template_kwargs', `chat_template_kwargs must not hold ${name}.`);
  refuseIf(
    request.continue_final_message === true && request.add_generation_prompt !== false,
    'continue_final_message',
    'continue_final_message needs add_generation_prompt: false.',
  );
  refuseIf(request.tools?.length === 0, 'tools', 'tools must hold at least one tool; leave it out for none.');
}

function checkStreamOptions({ stream, stream_options: options }: ChatCompletionRequest): void {
  refuseIf(
    stream !== true && options != null && Object.keys(options).length > 0,
    'stream_options',
    'stream_options is allowed only with stream: true.',
  );
}

function checkLogprobs({ logprobs, top_logprobs: count }: ChatCompletionRequest): void {
  refuseIf(
    count != null && count !== 0 && logprobs !== true,
    'top_logprobs',
    'top_logprobs is allowed only with logprobs: true.',
  );
}

function refuseIf(wrong: boolean, param: string, message: string): void {
  if (wrong) throw new ApiError('invalid_parameter', message, { param });
}
