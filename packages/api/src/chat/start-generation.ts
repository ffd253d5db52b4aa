// Steps 5 to 9 of a chat request: find the model, check the values, start the engine and wait for its first event.
// Everything that can be refused is refused here, before a transport sends a status line.

import type { ChatMessage } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';
import type { CatalogModel, Services } from '../services.ts';
import type { CallerContext } from '../trpc.ts';
import { toCachePartition } from './cache-partition.ts';
import { fromEngineError } from './engine-error.ts';
import { observeGeneration } from './observe-generation.ts';
import { chooseReasoningFormat, REASONING_FORMATS } from './reasoning/reasoning-format.ts';
import { type ReplyEvent, toReplyEvents } from './reply-events.ts';
import { toGenerationRequest } from './to-generation-request.ts';
import { toTemplateMessages } from './to-template-messages.ts';
import { validateChatRequest } from './validate-chat-request.ts';

/** Unit: milliseconds. A loading model is usually there after this. */
const LOADING_RETRY_MS = 2_000;
/** A name that no model has may be of any length. */
const SHOWN_ID_LENGTH = 200;

/** What every reply to one request shares. */
export interface ReplyHeader {
  readonly id: string;
  /** Unit: seconds since 1970. */
  readonly created: number;
  readonly model: string;
  /** Role of the generated message. */
  readonly role: string;
  /** Text that every choice begins with, taken from the last message; mostly empty. */
  readonly echoedText: string;
}

export interface StartedGeneration {
  readonly header: ReplyHeader;
  /** All events, the first one included. Ends with an `ApiError` when the engine fails. */
  readonly events: AsyncGenerator<ReplyEvent, void, undefined>;
}

/** Starts a generation. Throws: every refusal of the request. */
export async function startGeneration(
  services: Services,
  context: CallerContext,
  request: ChatCompletionRequest,
): Promise<StartedGeneration> {
  const model = findModel(services, request.model);
  const engine = readyEngine(model);
  validateChatRequest(request);
  const messages = toTemplateMessages(request.messages);
  const reasoningFormat = chooseReasoningFormat(model.reasoningParser, engine.info.chatTemplate);
  const generation = toGenerationRequest(request, {
    messages,
    cachePartition: toCachePartition(context.principal, request.cache_salt, services.promptCacheScope),
    shownSpecialTokens: reasoningFormat === null ? [] : REASONING_FORMATS[reasoningFormat].specialTokens,
  });
  const startedAtMs = services.now();
  const events = translateErrors(
    observeGeneration(engine.generate(generation, context.signal), {
      services,
      modelId: model.id,
      choiceCount: request.n,
      startedAtMs,
    }),
    request,
  );
  const first = await events.next();
  const last = messages.at(-1)!;
  const role = request.add_generation_prompt ? 'assistant' : last.role;
  const header: ReplyHeader = {
    id: `chatcmpl-${context.headers['x-request-id'] ?? request.request_id ?? context.requestId}`,
    created: Math.floor(startedAtMs / 1000),
    model: model.id,
    role,
    echoedText: request.echo && role === last.role ? textOf(last) : '',
  };
  const replies = toReplyEvents(startingWith(first, events), {
    engine,
    request,
    reasoningFormat,
    continuedText: request.continue_final_message ? textOf(last) : null,
  });
  return { header, events: replies };
}

function findModel(services: Services, id: string | null | undefined): CatalogModel {
  const wanted = id || services.models.defaultModelId;
  const model = services.models.find(wanted);
  if (model !== undefined) return model;
  const known = services.models.list().map(entry => entry.id);
  throw new ApiError(
    'model_not_found',
    `The model ${wanted.slice(0, SHOWN_ID_LENGTH)} does not exist. Known: ${known.join(', ')}.`,
    {
      param: 'model',
    },
  );
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : content.map(part => part.text).join('\n');
}

function readyEngine({ id, status }: CatalogModel) {
  if (status.kind === 'ready') return status.engine;
  if (status.kind === 'failed')
    throw new ApiError('model_unavailable', `The model ${id} could not be loaded.`, { param: 'model' });
  throw new ApiError('model_unavailable', `The model ${id} is still loading: ${status.detail}.`, {
    param: 'model',
    retryAfterMs: LOADING_RETRY_MS,
  });
}

async function* translateErrors<T>(
  events: AsyncIterable<T>,
  request: ChatCompletionRequest,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    throw fromEngineError(error, request);
  }
}

async function* startingWith<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    // A reader that leaves before asking for the second event must still end the generation.
    await rest.return();
  }
}
