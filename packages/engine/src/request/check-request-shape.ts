// For callers whose compiler does not check what they submit: a request must have the shape of its type before anything
// reads it. A misspelt field would otherwise be dropped without a word. Called by the validation and by the engine.

import type { ChatMessage } from './chat-message.ts';
import type { GenerationRequest, Prompt, StopConditions } from './generation-request.ts';
import { wrongParameter } from './parameter-checks.ts';
import type { SamplingParams } from './sampling-params.ts';

type FieldsOf<Shape> = Readonly<Record<keyof Required<Shape>, true>>;
type PromptOf<Kind extends Prompt['kind']> = Extract<Prompt, { readonly kind: Kind }>;

const REQUEST_FIELDS: FieldsOf<GenerationRequest> = {
  prompt: true,
  sampling: true,
  stop: true,
  choiceCount: true,
  skipSpecialTokens: true,
  badWords: true,
  logprobs: true,
  promptLogprobs: true,
  repetitionDetection: true,
  beamSearch: true,
  truncatePromptTokens: true,
  constraint: true,
  priority: true,
  cachePartition: true,
};

const SAMPLING_FIELDS: FieldsOf<SamplingParams> = {
  temperature: true,
  topP: true,
  topK: true,
  minP: true,
  frequencyPenalty: true,
  presencePenalty: true,
  repetitionPenalty: true,
  seed: true,
  logitBias: true,
  allowedTokenIds: true,
};

const STOP_FIELDS: FieldsOf<StopConditions> = {
  strings: true,
  tokenIds: true,
  includeInOutput: true,
  ignoreEos: true,
  maxTokens: true,
  minTokens: true,
};

const PROMPT_FIELDS: { readonly [Kind in Prompt['kind']]: FieldsOf<PromptOf<Kind>> } = {
  chat: { kind: true, messages: true, template: true },
  text: { kind: true, text: true, addSpecialTokens: true },
  tokens: { kind: true, tokenIds: true },
};

/** Throws: `invalid_request` naming the place. */
export function checkRequestShape(request: GenerationRequest): void {
  checkFields('', request, REQUEST_FIELDS);
  if (request.sampling !== undefined) checkFields('sampling', request.sampling, SAMPLING_FIELDS);
  if (request.stop !== undefined) checkFields('stop', request.stop, STOP_FIELDS);
  checkPromptShape(request.prompt);
}

/** A signal is no field of the request. Throws: `invalid_request`. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return;
  throw wrongParameter('signal', 'The signal, if there is one, must be an AbortSignal, as second argument.');
}

function checkPromptShape(prompt: Prompt): void {
  const kinds = Object.keys(PROMPT_FIELDS);
  if (!isRecord(prompt) || !kinds.includes(prompt.kind))
    throw wrongParameter('prompt', `prompt must be an object whose kind is one of ${kinds.join(', ')}.`);
  checkFields('prompt', prompt, PROMPT_FIELDS[prompt.kind]);
  if (prompt.kind === 'text' && typeof prompt.text !== 'string')
    throw wrongParameter('prompt.text', `prompt.text must be a text; got ${typeof prompt.text}.`);
  if (prompt.kind === 'tokens') checkList('prompt.tokenIds', prompt.tokenIds);
  if (prompt.kind === 'chat') {
    checkList('prompt.messages', prompt.messages);
    for (let index = 0; index < prompt.messages.length; index++)
      checkMessage(`prompt.messages[${index}]`, prompt.messages[index]!);
  }
}

function checkMessage(path: string, message: ChatMessage): void {
  if (!isRecord(message) || typeof message.role !== 'string')
    throw wrongParameter(path, `${path} must be an object with a role.`);
  const { content } = message;
  if (typeof content !== 'string' && !Array.isArray(content))
    throw wrongParameter(
      `${path}.content`,
      `${path}.content must be a text or a list of parts; got ${typeof content}.`,
    );
}

function checkList(path: string, value: unknown): void {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value))
    throw wrongParameter(path, `${path} must be a list; got ${typeof value}.`);
}

function checkFields(path: string, value: object, known: Readonly<Record<string, true>>): void {
  const shown = path === '' ? 'The request' : path;
  if (!isRecord(value)) throw wrongParameter(path, `${shown} must be an object; got ${typeof value}.`);
  for (const name in value)
    if (!Object.hasOwn(known, name))
      throw wrongParameter(
        path === '' ? name : `${path}.${name}`,
        `${shown} has no field ${name}. Its fields: ${Object.keys(known).join(', ')}.`,
      );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
