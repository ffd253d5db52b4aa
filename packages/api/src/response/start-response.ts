// From a request of POST /v1/responses to its events. Every refusal happens here, before a transport sends a status line.

import type { GenerationEvent } from '@ortler/engine';
import type { ResponseObject, ResponseRequest, ResponseStreamEvent } from '@ortler/schemas';
import { startGeneration } from '../chat/start-generation.ts';
import { closingStream, type EventSource } from '../generation/closing-stream.ts';
import type { Services } from '../ports/services.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { ResponseWriter } from './response-writer.ts';
import { toChatRequest } from './to-chat-request.ts';
import { toResponseError } from './to-response-error.ts';
import { toResponseObject } from './to-response-object.ts';

/** What the events of a response are made of: those of the engine, or the failure that ends them. */
type Source = GenerationEvent | { readonly kind: 'failure'; readonly error: unknown };

interface StartedResponse {
  readonly writer: ResponseWriter;
  readonly events: EventSource<GenerationEvent>;
}

/** The whole answer. Throws: every refusal of the request, and failures of the engine. */
export async function completeResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<ResponseObject> {
  const { writer, events } = await startResponse(services, context, request);
  let last: ResponseStreamEvent | undefined;
  try {
    for (let step = await events.next(); step.done !== true; step = await events.next())
      last = writer.push(step.value).at(-1) ?? last;
  } catch (error) {
    throw toResponseError(error);
  }
  if (last === undefined || !('response' in last))
    throw new Error('The engine ended a generation without its usage.');
  return last.response;
}

/**
 * The events. A failure of the engine is told by a last event `response.failed` and then thrown.
 * Throws: every refusal of the request.
 */
export async function streamResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<AsyncIterable<ResponseStreamEvent>> {
  const { writer, events } = await startResponse(services, context, request);
  return closingStream(withFailure(events), {
    write: event =>
      event.kind === 'failure' ? writer.fail(event.error, context.requestId) : writer.push(event),
  });
}

async function startResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<StartedResponse> {
  try {
    const { header, form, events } = await startGeneration(services, context, toChatRequest(request));
    const id = `resp_${crypto.randomUUID().replaceAll('-', '')}`;
    const response = toResponseObject({ id, createdAt: header.created, model: header.model }, request);
    return { writer: new ResponseWriter({ response, form, now: services.now }), events };
  } catch (error) {
    throw toResponseError(error);
  }
}

function withFailure(events: EventSource<GenerationEvent>): EventSource<Source> {
  let failure: { readonly error: unknown } | undefined;
  return {
    async next() {
      if (failure !== undefined) throw failure.error;
      try {
        return await events.next();
      } catch (error) {
        failure = { error: toResponseError(error) };
        return { done: false, value: { kind: 'failure', ...failure } };
      }
    },
    return: () => events.return(),
  };
}
