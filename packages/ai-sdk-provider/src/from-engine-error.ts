// Errors of the engine -> those that the AI SDK knows: arguments by its names, and those worth a retry as the one class that
// it retries. Every other failure stays the engine's own error.

import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  type LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import type { EngineError } from '@ortler/engine';

export interface FailedCall {
  readonly modelId: string;
  readonly options: LanguageModelV4CallOptions;
}

/** Settings that the AI SDK has a name of its own for. */
const SDK_NAMES: Readonly<Record<string, string>> = {
  'sampling.temperature': 'temperature',
  'sampling.topP': 'topP',
  'sampling.topK': 'topK',
  'sampling.presencePenalty': 'presencePenalty',
  'sampling.frequencyPenalty': 'frequencyPenalty',
  'sampling.seed': 'seed',
  'stop.strings': 'stopSequences',
  'stop.maxTokens': 'maxOutputTokens',
  'prompt.messages': 'prompt',
  prompt: 'prompt',
  'tools.definitions': 'tools',
  'tools.choice': 'toolChoice',
  'tools.choice.name': 'toolChoice.toolName',
  tools: 'tools',
};

/** Options whose path in the engine ends in another name. */
const OPTION_PATHS: Readonly<Record<string, string>> = {
  'stop.tokenIds': 'stopTokenIds',
  'stop.includeInOutput': 'includeStopInOutput',
  'logprobs.topCount': 'logprobs',
  'prompt.template.template': 'chatTemplate',
  'prompt.template.variables': 'chatTemplateKwargs',
};

/** The error to throw. Anything that is no `EngineError` is returned as it is. */
export function fromEngineError(error: unknown, call: FailedCall): unknown {
  if (!isEngineError(error)) return error;
  switch (error.code) {
    case 'invalid_request':
      return toInvalidArgument(error, call.options);
    case 'prompt_too_long':
    case 'template_failed':
      return new InvalidPromptError({ prompt: call.options.prompt, message: error.message, cause: error });
    case 'overloaded':
      return toRetryable(error, call, 429);
    case 'model_unavailable':
      return toRetryable(error, call, 503);
    default:
      return error;
  }
}

// By shape: a program may hold two copies of the engine's package.
function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && error.name === 'EngineError' && 'code' in error;
}

function toInvalidArgument(error: EngineError, options: LanguageModelV4CallOptions): InvalidArgumentError {
  const path = error.parameter ?? 'prompt';
  const argument = toArgument(path, options);
  const named = error.message.replaceAll(path, argument);
  const message = named.includes(argument) ? named : `${argument}: ${named}`;
  return new InvalidArgumentError({ argument, message, cause: error });
}

function toArgument(path: string, { responseFormat }: LanguageModelV4CallOptions): string {
  // `stop.strings[2]`: the place in a list stays.
  const [, name = path, place = ''] = /^([^[]*)(.*)$/.exec(path) ?? [];
  const sdkName = SDK_NAMES[name];
  if (sdkName !== undefined) return `${sdkName}${place.replace(/\.parameters$/, '.inputSchema')}`;
  if (name === 'constraint' && responseFormat?.type === 'json') return 'responseFormat.schema';
  const option = OPTION_PATHS[name] ?? name.replace(/^(?:sampling|stop|prompt\.template)\./, '');
  return `providerOptions.ortler.${option}${place}`;
}

function toRetryable(error: EngineError, { modelId, options }: FailedCall, statusCode: number): APICallError {
  const { message, retryAfterMs, cause: _ } = error;
  return new APICallError({
    message,
    url: `ortler:${modelId}`,
    requestBodyValues: { prompt: options.prompt },
    statusCode,
    isRetryable: true,
    cause: error,
    ...(retryAfterMs !== undefined && { responseHeaders: { 'retry-after-ms': String(retryAfterMs) } }),
  });
}
