// Steps 5 to 9 of a chat request: find the model, check the values, start the engine and wait for its first event.
// Everything that can be refused is refused here, before a transport sends a status line.

import type { GenerationEvent } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { findModel, servedId } from '../ready-engine.ts';
import type { Services } from '../services.ts';
import { startEvents } from '../start-events.ts';
import type { ApiContext } from '../trpc.ts';
import { fromEngineError } from './engine-error.ts';
import { toGenerationRequest } from './to-generation-request.ts';
import { validateChatRequest } from './validate-chat-request.ts';

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
  const model = await findModel(services, request.model);
  validateChatRequest(request);
  const startedAtMs = services.now();
  const events = await startEvents(toGenerationRequest(request), {
    services,
    model,
    startedAtMs,
    signal: context.signal,
    toApiError: error => fromEngineError(error, request),
  });
  const header: ReplyHeader = {
    id: `chatcmpl-${context.headers['x-request-id'] ?? request.request_id ?? context.requestId}`,
    created: Math.floor(startedAtMs / 1000),
    model: servedId(model),
    role: request.add_generation_prompt ? 'assistant' : request.messages.at(-1)!.role,
  };
  return { header, events };
}
