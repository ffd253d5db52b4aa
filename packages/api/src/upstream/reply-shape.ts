// Answers of upstream servers in the shape of this server's own: the id and model of the request, null where a server leaves a
// field out, reasoning under one name. Everything else stays as it was sent.

import { UpstreamError } from '@ortler/upstream';

/** What the caller knows the answer by. */
export interface ReplyNames {
  readonly id: string;
  readonly model: string;
  /** Where the server does not say one. Unit: seconds since 1970. */
  readonly created: number;
}

/** JSON that was just parsed and belongs to nobody else. */
export type Fields = Record<string, unknown>;

export interface ReplyChoice extends Fields {
  index?: unknown;
  finish_reason?: unknown;
}

/** How the answers of one endpoint look. */
export interface ReplyShape {
  readonly object: string;
  readonly chunkObject: string;
  /** Fields of a whole answer, and of each of its choices, that may be missing. */
  readonly defaults: Fields;
  readonly choiceDefaults: Fields;
  /** Fields of a chunk, and of each of its choices, that may be missing. */
  readonly chunkDefaults: Fields;
  readonly chunkChoiceDefaults: Fields;
  /** Where a choice has its text: `message` or `delta` of a chat, else the choice itself. */
  textOf(choice: ReplyChoice): Fields;
}

const NULLS = { service_tier: null, system_fingerprint: null, kv_transfer_params: null };
const MESSAGE = {
  role: 'assistant',
  content: null,
  refusal: null,
  annotations: null,
  audio: null,
  function_call: null,
  tool_calls: [],
  reasoning: null,
};

export const CHAT_SHAPE: ReplyShape = {
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  defaults: { ...NULLS, prompt_logprobs: null, prompt_token_ids: null },
  choiceDefaults: { logprobs: null, finish_reason: null, stop_reason: null, token_ids: null },
  chunkDefaults: {},
  chunkChoiceDefaults: { logprobs: null, finish_reason: null },
  textOf: choice => asFields(choice.message ?? choice.delta),
};

export const COMPLETION_SHAPE: ReplyShape = {
  object: 'text_completion',
  chunkObject: 'text_completion',
  defaults: NULLS,
  choiceDefaults: {
    logprobs: null,
    finish_reason: null,
    stop_reason: null,
    token_ids: null,
    prompt_logprobs: null,
    prompt_token_ids: null,
  },
  chunkDefaults: { usage: null },
  chunkChoiceDefaults: {
    logprobs: null,
    finish_reason: null,
    stop_reason: null,
    token_ids: null,
    prompt_token_ids: null,
  },
  textOf: choice => choice,
};

/** The object that an event holds. Throws: `UpstreamError` `invalid_reply`. */
export function parseChunk(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UpstreamError('invalid_reply', 'An event is not JSON.', { cause: error });
  }
  return asReply(value);
}

/** Throws: `UpstreamError` `invalid_reply` where the value is not an object. */
export function asReply(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new UpstreamError('invalid_reply', 'An answer is not a JSON object.');
}

/** Throws: `UpstreamError` `invalid_reply` where there are none. */
export function choicesOf({ choices }: Fields): readonly ReplyChoice[] {
  const isChoice = (choice: unknown) => typeof choice === 'object' && choice !== null;
  if (Array.isArray(choices) && choices.every(isChoice)) return choices as readonly ReplyChoice[];
  throw new UpstreamError('invalid_reply', 'An answer has no choices.');
}

/** Mutates: the answer. Throws: `UpstreamError` `invalid_reply`. */
export function completeReply(reply: Fields, { id, model, created }: ReplyNames, shape: ReplyShape): void {
  Object.assign(reply, { id, model });
  addMissing(reply, { object: shape.object, created, ...shape.defaults });
  for (const choice of choicesOf(reply)) {
    addMissing(choice, shape.choiceDefaults);
    if (shape !== CHAT_SHAPE) continue;
    choice.message ??= {};
    const message = asFields(choice.message);
    renameReasoning(message);
    addMissing(message, MESSAGE);
    message.tool_calls ??= [];
  }
}

/** Mutates: the chunk. Throws: `UpstreamError` `invalid_reply`. */
export function completeChunk(chunk: Fields, { id, model, created }: ReplyNames, shape: ReplyShape): void {
  Object.assign(chunk, { id, model });
  addMissing(chunk, { object: shape.chunkObject, created, ...shape.chunkDefaults });
  // Some servers leave them out, or write null, where a chunk has nothing but usage.
  if (chunk.usage != null) chunk.choices ??= [];
  for (const choice of choicesOf(chunk)) {
    addMissing(choice, shape.chunkChoiceDefaults);
    if (shape !== CHAT_SHAPE) continue;
    choice.delta ??= {};
    renameReasoning(asFields(choice.delta));
  }
}

/** Whether a choice of a chunk has new text: of the answer, its refusal, its reasoning or its calls. */
export function hasText(choice: ReplyChoice, shape: ReplyShape): boolean {
  const { content, text, refusal, reasoning, tool_calls: calls } = shape.textOf(choice);
  return [content, text, refusal, reasoning].some(Boolean) || (Array.isArray(calls) && calls.length > 0);
}

/** The older name of llama.cpp, SGLang and vLLM. */
function renameReasoning(message: Fields): void {
  if (message.reasoning_content === undefined) return;
  message.reasoning ??= message.reasoning_content;
  delete message.reasoning_content;
}

function addMissing(fields: Fields, defaults: Fields): void {
  for (const [name, value] of Object.entries(defaults)) if (fields[name] === undefined) fields[name] = value;
}

function asFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new UpstreamError('invalid_reply', 'A choice has no message.');
}
