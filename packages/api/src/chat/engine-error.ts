// Failures of the engine -> failures of the api. The only file that knows which wire field an engine field came from.

import { EngineError } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError, ENGINE_ERROR_TABLE } from '../errors.ts';

/** What of a request decides the names. Completions have a `prompt` where chats have `messages`. */
export type NamedFields = Partial<Pick<ChatCompletionRequest, 'max_completion_tokens' | 'chat_template'>> & {
  readonly promptField?: 'messages' | 'prompt';
};

/** What a thrown value is on the wire; anything but an `EngineError` is returned as it is. */
export function fromEngineError(error: unknown, request: NamedFields): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, retryAfterMs, cause } = error;
  // Whoever aborted may have said why; a server that stops is not a client that left.
  if (code === 'aborted' && cause instanceof ApiError) return cause;
  const names = wireNames(request);
  const message = code === 'invalid_request' ? inWireWords(error.message, names) : error.message;
  return new ApiError(ENGINE_ERROR_TABLE[code], message, {
    param: toParam(error, request, names),
    retryAfterMs,
    cause: error,
  });
}

/** Engine field -> wire field. A field of the engine's sampling settings also goes by its bare name. */
function wireNames(request: NamedFields): ReadonlyMap<string, string> {
  return new Map([
    ['sampling.temperature', 'temperature'],
    ['sampling.topP', 'top_p'],
    ['topP', 'top_p'],
    ['sampling.topK', 'top_k'],
    ['topK', 'top_k'],
    ['sampling.minP', 'min_p'],
    ['minP', 'min_p'],
    ['sampling.seed', 'seed'],
    ['stop.strings', 'stop'],
    ['stop.tokenIds', 'stop_token_ids'],
    ['stop.includeInOutput', 'include_stop_str_in_output'],
    ['stop.ignoreEos', 'ignore_eos'],
    ['stop.minTokens', 'min_tokens'],
    ['stop.maxTokens', request.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens'],
    ['logprobs.topCount', request.promptField === 'prompt' ? 'logprobs' : 'top_logprobs'],
    ['promptLogprobs.topCount', 'prompt_logprobs'],
    ['choiceCount', 'n'],
    ['skipSpecialTokens', 'skip_special_tokens'],
    ['prompt.template.template', 'chat_template'],
    ['prompt.messages', 'messages'],
    ['prompt', request.promptField ?? 'messages'],
  ]);
}

function toParam(
  { code, parameter }: EngineError,
  request: NamedFields,
  names: ReadonlyMap<string, string>,
): string | null {
  if (code === 'prompt_too_long') return 'input_tokens';
  if (code === 'template_failed' && request.chat_template != null) return 'chat_template';
  if (parameter === undefined) return null;
  // `stop.strings[2]` belongs to one wire field.
  const path = parameter.replace(/\[.*$/, '');
  return names.get(path) ?? (path.startsWith('prompt.') ? (request.promptField ?? 'messages') : null);
}

// The engine's messages name fields in its own words, which a client of the wire has never seen.
function inWireWords(message: string, names: ReadonlyMap<string, string>): string {
  return message.replace(/[a-zA-Z]+(?:\.[a-zA-Z]+)*/g, word =>
    /[A-Z.]/.test(word) ? (names.get(word) ?? word) : word,
  );
}
