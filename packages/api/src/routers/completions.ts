// POST /v1/completions: text after a bare prompt. One function answers REST and tRPC; the procedures differ only in the
// type of reply that they promise.

import {
  type Completion,
  type CompletionChunk,
  type CompletionRequest,
  completion,
  completionRequest,
} from '@ortler/schemas';
import { z } from 'zod';
import { CompletionChunkWriter } from '../completion/completion-chunk-writer.ts';
import { type CheckedCompletion, checkCompletion, startCompletion } from '../completion/start-completion.ts';
import { toCompletion } from '../completion/to-completion.ts';
import { closingStream } from '../generation/closing-stream.ts';
import { upstreamOf } from '../generation/upstream-of.ts';
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
import { type PassedRequest, passOnForChunks, passOnForReply } from '../upstream/pass-on.ts';
import { COMPLETION_SHAPE } from '../upstream/reply-shape.ts';

/**
 * Router of completions.
 *
 * - `create`: what REST calls; replies with a completion, or with chunks when `stream` is true.
 * - `complete` and `stream`: the same for typed clients, each with one type of reply.
 */
export function createCompletionsRouter(services: Services) {
  const procedureFor = createOpenAiProcedures(services);
  const procedure = procedureFor(completionRequest);
  const chunks = chunkStream<CompletionChunk>();
  return router({
    create: procedure
      .meta({
        auth: 'bearer',
        errors: 'openai',
        streams: 'CompletionChunk',
        fails: ['upstream_failed', 'upstream_timeout'],
        openapi: {
          method: 'POST',
          path: '/v1/completions',
          operationId: 'createCompletion',
          tags: ['completions'],
          requestHeaders,
          summary: 'Continue a text',
          description:
            'Continues one or several prompts, without a chat template. Replies with one JSON body, or with ' +
            'server-sent events when `stream` is true.',
        },
      })
      .output(orJsonText(z.union([chunks, completion])))
      .mutation(({ ctx, input }) => (input.stream ? streamed(ctx, input) : complete(ctx, input))),

    complete: procedure.output(orJsonText(completion)).mutation(({ ctx, input }) => {
      if (input.stream)
        throw new ApiError(
          'invalid_parameter',
          'completions.complete does not stream; call completions.stream.',
          { param: 'stream' },
        );
      return complete(ctx, input);
    }),

    stream: procedureFor(asStreamed(completionRequest))
      .output(chunks)
      .mutation(({ ctx, input }) => streamed(ctx, { ...input, stream: true })),
  });

  async function complete(context: CallerContext, request: CompletionRequest): Promise<Completion> {
    const checked = await checkCompletion(services, context, request);
    const passed = await toPassedCompletion(context, checked);
    if (passed !== undefined) return toJsonResult(context, await passOnForReply(services, context, passed));
    await nameIgnoredFields(context, completionRequest);
    const { header, engine, read } = await startCompletion(services, context, checked);
    return toCompletion(
      header,
      read(event => [event]),
      { engine, request },
    );
  }

  async function streamed(
    context: CallerContext,
    request: CompletionRequest,
  ): Promise<AsyncIterable<CompletionChunk>> {
    const checked = await checkCompletion(services, context, request);
    const passed = await toPassedCompletion(context, checked);
    if (passed !== undefined)
      return closingStream(await passOnForChunks(services, context, passed), {
        write: chunk => [chunk as CompletionChunk],
      });
    await nameIgnoredFields(context, completionRequest);
    const { header, engine, read } = await startCompletion(services, context, checked);
    const writer = new CompletionChunkWriter(header, request, engine);
    return read(event => writer.push(event));
  }
}

/** A completion whose model other servers answer for; undefined: an engine of this server does. */
async function toPassedCompletion(
  context: CallerContext,
  { request, model, id }: CheckedCompletion,
): Promise<PassedRequest | undefined> {
  const upstream = upstreamOf(model);
  if (upstream === undefined) return undefined;
  return {
    model,
    upstream,
    path: 'completions',
    shape: COMPLETION_SHAPE,
    id,
    given: await readRawInput(context),
    read: request,
    choiceCount: request.n * request.prompt.length,
    maxTokens: request.max_tokens ?? null,
  };
}
