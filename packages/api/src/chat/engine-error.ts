// Failures of the engine -> failures of the api. The only file that knows which wire field an engine field came from.

import { EngineError } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError, ENGINE_ERROR_TABLE } from '../errors.ts';

const WIRE_NAMES: Readonly<Record<string, string>> = {
  prompt: 'messages',
  'sampling.temperature': 'temperature',
  'sampling.topP': 'top_p',
  'sampling.topK': 'top_k',
  'sampling.minP': 'min_p',
  'sampling.seed': 'seed',
  'stop.strings': 'stop',
  'stop.tokenIds': 'stop_token_ids',
  'stop.includeInOutput': 'include_stop_str_in_output',
  'stop.ignoreEos': 'ignore_eos',
  'stop.minTokens': 'min_tokens',
  choiceCount: 'n',
  skipSpecialTokens: 'skip_special_tokens',
};

/** What a thrown value is on the wire; anything but an `EngineError` is returned as it is. */
export function fromEngineError(
  error: unknown,
  request: Pick<ChatCompletionRequest, 'max_completion_tokens'>,
): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, parameter, retryAfterMs, cause } = error;
  // Whoever aborted may have said why; a server that stops is not a client that left.
  if (code === 'aborted' && cause instanceof ApiError) return cause;
  const param = code === 'prompt_too_long' ? 'input_tokens' : wireName(parameter, request);
  return new ApiError(ENGINE_ERROR_TABLE[code], error.message, { param, retryAfterMs, cause: error });
}

function wireName(
  parameter: string | undefined,
  request: Pick<ChatCompletionRequest, 'max_completion_tokens'>,
): string | null {
  if (parameter === undefined) return null;
  // `stop.strings[2]` and `prompt.messages[0].role` belong to one wire field each.
  const path = parameter.replace(/\[.*$/, '');
  if (path === 'stop.maxTokens')
    return request.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens';
  return WIRE_NAMES[path] ?? (path.startsWith('prompt') ? 'messages' : null);
}
