// Steps 5 to 9 of a chat request: find the model, check the values, start the engine and wait for its first event.
// Everything that can be refused is refused here, before a transport sends a status line.

import type { ChatMessage } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { closingStream } from '../closing-stream.ts';
import { findModel, openEngine, servedId } from '../ready-engine.ts';
import type { EngineLease, ServedModel, Services } from '../services.ts';
import { startEvents } from '../start-events.ts';
import type { CallerContext } from '../trpc.ts';
import { toCachePartition } from './cache-partition.ts';
import { fromEngineError } from './engine-error.ts';
import { chooseReasoningFormat, REASONING_FORMATS, toThinkingMarks } from './reasoning/reasoning-format.ts';
import { type ReplyEvent, toReplyEvents } from './reply-events.ts';
import { toGenerationRequest } from './to-generation-request.ts';
import { toTemplateMessages } from './to-template-messages.ts';
import { validateChatRequest } from './validate-chat-request.ts';

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
  const model = await findModel(services, context.principal, request.model);
  validateChatRequest(request);
  const messages = toTemplateMessages(request.messages);
  // The engine is needed longer than its generation: the reply is written with its template and its tokens' texts.
  const lease = await openEngine(model, context.signal);
  try {
    return await startReply(services, context, { request, model, messages, lease });
  } catch (error) {
    lease.release();
    throw error;
  }
}

interface Reply {
  readonly request: ChatCompletionRequest;
  readonly model: ServedModel;
  readonly messages: readonly ChatMessage[];
  /** Given back when the events end. */
  readonly lease: EngineLease;
}

async function startReply(
  services: Services,
  context: CallerContext,
  { request, model, messages, lease }: Reply,
): Promise<StartedGeneration> {
  const { engine } = lease;
  const reasoningFormat = chooseReasoningFormat(model.reasoningParser, engine.info.chatTemplate);
  const last = messages.at(-1)!;
  const continuedText = request.continue_final_message ? textOf(last) : null;
  const generation = toGenerationRequest(request, messages, {
    cachePartition: toCachePartition(context.principal, request.cache_salt, services.promptCacheScope),
    shownSpecialTokens: reasoningFormat === null ? [] : REASONING_FORMATS[reasoningFormat].specialTokens,
    thinking:
      reasoningFormat === null
        ? null
        : toThinkingMarks(REASONING_FORMATS[reasoningFormat].format, continuedText),
  });
  const startedAtMs = services.now();
  const events = await startEvents(generation, {
    services,
    model,
    startedAtMs,
    signal: context.signal,
    toApiError: error => fromEngineError(error, request),
  });
  const role = request.add_generation_prompt ? 'assistant' : last.role;
  const header: ReplyHeader = {
    id: `chatcmpl-${context.headers['x-request-id'] ?? request.request_id ?? context.requestId}`,
    created: Math.floor(startedAtMs / 1000),
    model: servedId(model),
    role,
    echoedText: request.echo && role === last.role ? textOf(last) : '',
  };
  const replies = toReplyEvents(events, {
    engine,
    request,
    reasoningFormat,
    continuedText,
  });
  const onClose = (): void => {
    void events.return();
    lease.release();
  };
  return { header, events: closingStream(replies, { onClose }) };
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : content.map(part => part.text).join('\n');
}
