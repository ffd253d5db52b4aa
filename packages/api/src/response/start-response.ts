// From a request of POST /v1/responses to its events. Every refusal happens here, before a transport sends a status line.

import {
  type ChatCompletionRequestInput,
  type ResponseObject,
  type ResponseRequest,
  type ResponseStreamEvent,
  responseRequest,
} from '@ortler/schemas';
import { type ReplyEvent, toReplyEvents } from '../chat/reply-event.ts';
import { type CheckedChat, checkChat, startGeneration } from '../chat/start-generation.ts';
import { closingStream, type EventSource } from '../generation/closing-stream.ts';
import { servedId } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';
import { nameIgnoredFields } from '../trpc/name-ignored-fields.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { passOnForChunks, toPassedChat } from '../upstream/pass-on.ts';
import { UpstreamReplyEvents } from '../upstream/upstream-reply-events.ts';
import { ResponseRun } from './response-run.ts';
import { ResponseWriter } from './response-writer.ts';
import { readFullInput, responseOwner } from './stored-conversation.ts';
import { toChatBody, toChatRequest } from './to-chat-request.ts';
import { toConversation } from './to-conversation.ts';
import { toResponseError } from './to-response-error.ts';
import { toResponseObject } from './to-response-object.ts';

/** The whole answer. Throws: every refusal of the request, and failures of the engine. */
export async function completeResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<ResponseObject> {
  const { writer, run } = await startResponse(services, context, request);
  while ((await run.next()).done !== true);
  return writer.response;
}

/**
 * The events. A failure of the engine is reported by a last event `response.failed` and then thrown.
 * Throws: every refusal of the request.
 */
export async function streamResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<AsyncIterable<ResponseStreamEvent>> {
  const { run } = await startResponse(services, context, request);
  return closingStream(run, { write: events => events });
}

async function startResponse(
  services: Services,
  context: CallerContext,
  request: ResponseRequest,
): Promise<{ readonly writer: ResponseWriter; readonly run: ResponseRun }> {
  await nameIgnoredFields(context, responseRequest);
  const store = storeOf(services, request);
  const owner = responseOwner(context.principal);
  const { history, items } = await readFullInput(request, { store: services.responses, owner });
  try {
    const messages = toConversation(request.instructions, history, items);
    const body = toChatBody(request, messages);
    const chat = await checkChat(services, context, toChatRequest(body));
    const { createdAt, events } = await startReply(services, context, chat, body);
    const id = `resp_${crypto.randomUUID().replaceAll('-', '')}`;
    const writer = new ResponseWriter({
      response: toResponseObject({ id, createdAt, model: servedId(chat.model) }, request, store !== null),
      now: services.now,
    });
    const run = new ResponseRun({
      writer,
      events,
      requestId: context.requestId,
      save: async response => {
        const previousId = request.previous_response_id ?? null;
        await store?.save({ id, owner, createdAtMs: services.now(), previousId, input: items, response });
      },
    });
    return { writer, run };
  } catch (error) {
    throw toResponseError(error);
  }
}

/** The events of the reply, from an engine or from the servers that answer for the model. */
async function startReply(
  services: Services,
  context: CallerContext,
  chat: CheckedChat,
  given: ChatCompletionRequestInput,
): Promise<{ readonly createdAt: number; readonly events: EventSource<ReplyEvent> }> {
  const passed = toPassedChat(chat, { ...given });
  if (passed === undefined) {
    const { header, form, events } = await startGeneration(services, context, chat);
    return { createdAt: header.created, events: toReplyEvents(events, form) };
  }
  const createdAt = Math.floor(services.now() / 1000);
  const chunks = await passOnForChunks(services, context, passed);
  return { createdAt, events: new UpstreamReplyEvents(chunks) };
}

/** Where the answer is kept; null: nowhere. Throws: `unsupported_parameter`. */
function storeOf({ responses }: Services, { store }: ResponseRequest): Services['responses'] {
  if (store === false) return null;
  if (store === true && responses === null)
    throw new ApiError(
      'unsupported_parameter',
      'store must be false or left out: responses are not stored on this server.',
      { param: 'store' },
    );
  return responses;
}
