// Failures of the engine -> failures of the api. The only file that knows which wire field an engine field came from.

import { EngineError } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError, ENGINE_ERROR_TABLE } from '../trpc/errors.ts';
import { WIRE_NAMES } from './parameter-support.ts';
import { constraintField } from './to-constraint.ts';

/** Fields of a request that decide the names. Completions have a `prompt` where chats have `messages`. */
export type NamedFields = Partial<
  Pick<ChatCompletionRequest, 'max_completion_tokens' | 'chat_template' | 'structured_outputs' | 'logit_bias'>
> & {
  readonly promptField?: 'messages' | 'prompt';
  /** Place of the prompt, where the request has several. */
  readonly promptIndex?: number | undefined;
};

/** Parts of `repetition_detection`, which messages name. */
const REPETITION_FIELDS: ReadonlySet<string> = new Set(['min_pattern_size', 'max_pattern_size', 'min_count']);

const MODEL_STOPPED = 'The model stopped while it worked on this request, and is being started again.';

/** The wire error of a thrown value; anything but an `EngineError` is returned unchanged. */
export function fromEngineError(error: unknown, request: NamedFields): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, retryAfterMs, cause } = error;
  // The abort may have a reason of its own: a server that stops is not a client that left.
  if (code === 'aborted' && cause instanceof ApiError) return cause;
  const names = wireNames(request);
  // The process of the model ended. Its reason is for the log of the server.
  if (code === 'engine_failed' && retryAfterMs !== undefined)
    return new ApiError('model_unavailable', MODEL_STOPPED, { param: 'model', retryAfterMs, cause: error });
  // A failure without a parameter may tell the words of a template, which stay as they are.
  const isOurs = code === 'invalid_request' || error.parameter !== undefined;
  const words = isOurs ? inWireWords(error.message, names, request) : error.message;
  const message = namingPrompt(words, error, request);
  const param = toParam(error, request, names);
  const isWhole = !isOurs || code === 'prompt_too_long';
  return new ApiError(ENGINE_ERROR_TABLE[code], isWhole ? message : namingField(message, param), {
    param,
    retryAfterMs,
    cause: error,
  });
}

/** Faults of schemas and prompts are reported without the field that they came in. */
function namingField(message: string, param: string | null): string {
  return param === null || message.includes(param) ? message : `${param}: ${message}`;
}

/** At the end, because clients know a prompt that is too long by the beginning of the message. */
function namingPrompt(message: string, { parameter }: EngineError, request: NamedFields): string {
  if (request.promptIndex === undefined || parameter === undefined) return message;
  const place = promptPlace(request);
  return /^prompt\b/.test(parameter) && !message.includes(place) ? `${message} (${place})` : message;
}

function promptPlace({ promptField = 'messages', promptIndex }: NamedFields): string {
  return promptIndex === undefined ? promptField : `${promptField}[${promptIndex}]`;
}

/** Engine field -> wire field. Settings of the engine's sampling and template also have their bare names. */
function wireNames(request: NamedFields): ReadonlyMap<string, string> {
  const promptField = request.promptField ?? 'messages';
  const bare = [...WIRE_NAMES].filter(([field]) => /^(sampling|prompt\.template)\./.test(field));
  return new Map([
    ...bare.map(([field, name]) => [field.slice(field.lastIndexOf('.') + 1), name] as const),
    ...WIRE_NAMES,
    ['repetitionDetection.minPatternSize', 'min_pattern_size'],
    ['repetitionDetection.maxPatternSize', 'max_pattern_size'],
    ['repetitionDetection.minCount', 'min_count'],
    ['beamSearch.width', 'n'],
    ['stop.maxTokens', request.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens'],
    ['logprobs.topCount', request.promptField === 'prompt' ? 'logprobs' : 'top_logprobs'],
    ['promptLogprobs.topCount', 'prompt_logprobs'],
    ['constraint', constraintField(request)],
    ['tools.definitions', 'tools'],
    ['tools.choice', 'tool_choice'],
    ['tools.choice.name', 'tool_choice'],
    ['prompt.messages', 'messages'],
    ['prompt', promptField],
    ['prompt.tokenIds', promptPlace(request)],
  ]);
}

function toParam(
  { code, parameter }: EngineError,
  request: NamedFields,
  names: ReadonlyMap<string, string>,
): string | null {
  if (parameter === undefined) {
    return code === 'template_failed' && request.chat_template != null ? 'chat_template' : null;
  }
  // The service this wire format comes from blames the switch for too large a count.
  if (parameter === 'logprobs.topCount') return 'logprobs';
  // `stop.strings[2]` and `repetitionDetection.minCount` belong to one wire field each.
  for (let path = parameter.replace(/\[.*$/, ''); path !== ''; path = path.replace(/\.?[^.]*$/, '')) {
    const name = names.get(path);
    if (name !== undefined)
      return REPETITION_FIELDS.has(name) ? 'repetition_detection' : name.replace(/\[.*$/, '');
  }
  return null;
}

// The engine's messages name fields in its own words, which a client of the wire has never seen. Its biases are a list;
// on the wire a token's id is the key.
function inWireWords(message: string, names: ReadonlyMap<string, string>, request: NamedFields): string {
  const named = message.replace(/[a-zA-Z]+(?:\.[a-zA-Z]+)*/g, word =>
    /[A-Z.]/.test(word) ? (names.get(word) ?? word) : word,
  );
  const keys = Object.keys(request.logit_bias ?? {});
  const ofFunction = named.replace(/\btools\[\d+\](?=\.)/g, '$&.function');
  return ofFunction.replace(/logit_bias\[(\d+)\](?:\.tokenId)?/g, (whole, index) => {
    const key = keys[Number(index)];
    return key === undefined ? whole : `logit_bias[${JSON.stringify(key)}]`;
  });
}
