// Steps 5 to 9 of a chat request: find the model, check the values, start the engine and wait for its first event.
// Every refusal of the request happens here, before a transport sends a status line. A model of other servers needs the checks alone.

import type { ChatMessage } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { answerName } from '../generation/answer-name.ts';
import { toCachePartition } from '../generation/cache-partition.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { toUsingCaller } from '../generation/generation-usage.ts';
import { findModel, openEngine, servedId } from '../generation/ready-engine.ts';
import { RunningGeneration } from '../generation/running-generation.ts';
import type { ServedModel, Services } from '../ports/services.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { type ReplyForm, toReplyForm } from './reply-delta.ts';
import { toGenerationRequest } from './to-generation-request.ts';
import { toTemplateMessages } from './to-template-messages.ts';
import { withToolChoice } from './to-tools.ts';
import { validateChatRequest } from './validate-chat-request.ts';

/** Fields that every reply to one request shares. */
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
  readonly form: ReplyForm;
  /** All events, the first one included. */
  readonly events: RunningGeneration;
}

/** A request that was checked, and the model that it names. */
export interface CheckedChat {
  readonly request: ChatCompletionRequest;
  readonly model: ServedModel;
  /** Id of the answer. */
  readonly id: string;
}

/** Throws: what this server refuses of any chat, whichever model answers. */
export async function checkChat(
  services: Services,
  context: CallerContext,
  asked: ChatCompletionRequest,
): Promise<CheckedChat> {
  const request = withToolChoice(asked, services.toolCalling);
  const model = await findModel(services, context.principal, request.model);
  validateChatRequest(request);
  const id = `chatcmpl-${answerName(context, request)}`;
  return { request, model, id };
}

/** Starts a generation. Throws: every refusal of the request by its model. */
export async function startGeneration(
  services: Services,
  context: CallerContext,
  { request, model, id }: CheckedChat,
): Promise<StartedGeneration> {
  const caller = toUsingCaller(context);
  const messages = toTemplateMessages(request.messages);
  const generation = toGenerationRequest(
    request,
    messages,
    toCachePartition(context.principal, request.cache_salt, services.promptCacheScope),
  );
  const { engine, release } = await openEngine(model, context.signal);
  const startedAtMs = services.now();
  const modelId = servedId(model);
  const events = await RunningGeneration.start(generation, {
    services,
    caller,
    engine,
    modelId,
    startedAtMs,
    signal: context.signal,
    toApiError: error => fromEngineError(error, request),
    onEnd: release,
  });
  const last = messages.at(-1)!;
  const role = request.add_generation_prompt ? 'assistant' : last.role;
  const header: ReplyHeader = {
    id,
    created: Math.floor(startedAtMs / 1000),
    model: modelId,
    role,
    echoedText: request.echo && role === last.role ? textOf(last) : '',
  };
  return { header, form: toReplyForm(request, { canReason: engine.info.reasoningFormat !== null }), events };
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : content.map(part => part.text).join('\n');
}
