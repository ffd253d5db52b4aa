// Steps 5 to 9 of a chat request: find the model, check the values, start the engine and wait for its first event.
// Everything that can be refused is refused here, before a transport sends a status line.

import type { GenerationEvent } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';
import type { CatalogModel, Services } from '../services.ts';
import type { ApiContext } from '../trpc.ts';
import { fromEngineError } from './engine-error.ts';
import { observeGeneration } from './observe-generation.ts';
import { toGenerationRequest } from './to-generation-request.ts';
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
}

export interface StartedGeneration {
  readonly header: ReplyHeader;
  /** All events, the first one included. Ends with an `ApiError` when the engine fails. */
  readonly events: AsyncGenerator<GenerationEvent, void, undefined>;
}

/** Starts a generation. Throws: every refusal of the request. */
export async function startGeneration(
  services: Services,
  context: ApiContext,
  request: ChatCompletionRequest,
): Promise<StartedGeneration> {
  const model = findModel(services, request.model);
  const engine = readyEngine(model);
  validateChatRequest(request);
  const startedAtMs = services.now();
  const events = translateErrors(
    observeGeneration(engine.generate(toGenerationRequest(request), context.signal), {
      services,
      modelId: model.id,
      choiceCount: request.n,
      startedAtMs,
    }),
    request,
  );
  const first = await events.next();
  const header: ReplyHeader = {
    id: `chatcmpl-${context.headers['x-request-id'] ?? request.request_id ?? context.requestId}`,
    created: Math.floor(startedAtMs / 1000),
    model: model.id,
    role: request.add_generation_prompt ? 'assistant' : request.messages.at(-1)!.role,
  };
  return { header, events: startingWith(first, events) };
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
