// POST /v1/chat/completions. One function answers REST and tRPC; the procedures differ only in the type of reply
// that they promise.

import {
  type ChatChunk,
  type ChatCompletion,
  type ChatCompletionRequest,
  chatCompletion,
  chatCompletionRequest,
} from '@ortler/schemas';
import { z } from 'zod';
import { ChatChunkWriter } from '../chat/chat-chunk-writer.ts';
import { checkChat, startGeneration } from '../chat/start-generation.ts';
import { toChatCompletion } from '../chat/to-chat-completion.ts';
import { closingStream } from '../generation/closing-stream.ts';
import type { Services } from '../ports/services.ts';
import { chunkStream } from '../trpc/chunk-stream.ts';
import { ApiError } from '../trpc/errors.ts';
import { orJsonText, toJsonResult } from '../trpc/json-text.ts';
import { nameIgnoredFields } from '../trpc/name-ignored-fields.ts';
import { createOpenAiProcedures } from '../trpc/openai-procedure.ts';
import { readRawInput } from '../trpc/raw-input.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { asStreamed } from '../trpc/streamed-input.ts';
import { type CallerContext, router } from '../trpc/trpc.ts';
import { passOnForChunks, passOnForReply, toPassedChat } from '../upstream/pass-on.ts';

/**
 * Router of chat completions.
 *
 * - `create`: what REST calls; replies with a completion, or with chunks when `stream` is true.
 * - `complete` and `stream`: the same for typed clients, each with one type of reply.
 */
export function createChatRouter(services: Services) {
  const procedureFor = createOpenAiProcedures(services);
  const procedure = procedureFor(chatCompletionRequest);
  const chunks = chunkStream<ChatChunk>();
  return router({
    create: procedure
      .meta({
        auth: 'bearer',
        errors: 'openai',
        streams: 'ChatCompletionChunk',
        fails: ['upstream_failed', 'upstream_timeout'],
        openapi: {
          method: 'POST',
          path: '/v1/chat/completions',
          operationId: 'createChatCompletion',
          tags: ['chat'],
          requestHeaders,
          summary: 'Answer a conversation',
          description: 'Replies with one JSON body, or with server-sent events when `stream` is true.',
        },
      })
      .output(orJsonText(z.union([chunks, chatCompletion])))
      .mutation(({ ctx, input }) => (input.stream ? streamed(ctx, input) : complete(ctx, input))),

    complete: procedure.output(orJsonText(chatCompletion)).mutation(({ ctx, input }) => {
      if (input.stream)
        throw new ApiError('invalid_parameter', 'chat.complete does not stream; call chat.stream.', {
          param: 'stream',
        });
      return complete(ctx, input);
    }),

    stream: procedureFor(asStreamed(chatCompletionRequest))
      .output(chunks)
      .mutation(({ ctx, input }) => streamed(ctx, { ...input, stream: true })),
  });

  async function complete(context: CallerContext, asked: ChatCompletionRequest): Promise<ChatCompletion> {
    const chat = await checkChat(services, context, asked);
    const passed = toPassedChat(chat, await readRawInput(context));
    if (passed !== undefined) return toJsonResult(context, await passOnForReply(services, context, passed));
    await nameIgnoredFields(context, chatCompletionRequest);
    const { header, form, events } = await startGeneration(services, context, chat);
    return toChatCompletion(header, events, { request: chat.request, form });
  }

  async function streamed(
    context: CallerContext,
    asked: ChatCompletionRequest,
  ): Promise<AsyncIterable<ChatChunk>> {
    const chat = await checkChat(services, context, asked);
    const passed = toPassedChat(chat, await readRawInput(context));
    if (passed !== undefined)
      return closingStream(await passOnForChunks(services, context, passed), {
        write: chunk => [chunk as ChatChunk],
      });
    await nameIgnoredFields(context, chatCompletionRequest);
    const { header, form, events } = await startGeneration(services, context, chat);
    const writer = new ChatChunkWriter(header, chat.request, form);
    return closingStream(events, { write: event => writer.push(event) });
  }
}
