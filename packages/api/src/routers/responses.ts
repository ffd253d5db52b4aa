// POST /v1/responses: OpenAI's newer endpoint, answered by the same engine as a chat. One function answers REST and tRPC;
// the procedures differ only in the type of reply that they promise.

import {
  deletedResponse,
  type ResponseStreamEvent,
  responseId,
  responseInputItemList,
  responseInputItemListInput,
  responseInputTokens,
  responseObject,
  responseRequest,
  responseRetrieveInput,
} from '@ortler/schemas';
import { z } from 'zod';
import type { Services } from '../ports/services.ts';
import { countInputTokens } from '../response/count-input-tokens.ts';
import { listInputItems } from '../response/list-input-items.ts';
import { completeResponse, streamResponse } from '../response/start-response.ts';
import { responseOwner } from '../response/stored-conversation.ts';
import { chunkStream } from '../trpc/chunk-stream.ts';
import { ApiError } from '../trpc/errors.ts';
import { createOpenAiProcedures } from '../trpc/openai-procedure.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { asStreamed } from '../trpc/streamed-input.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

/**
 * Router of responses.
 *
 * - `create`: what REST calls; replies with a response, or with events when `stream` is true.
 * - `complete` and `stream`: the same for typed clients, each with one type of reply.
 * - `retrieve`, `inputItems`, `cancel` and `delete`: a stored response.
 * - `countInputTokens`: the length of a prompt.
 */
export function createResponsesRouter(services: Services) {
  const procedureFor = createOpenAiProcedures(services);
  const procedure = procedureFor(responseRequest);
  const stored = createBearerProcedure(services);
  /** The same error where nothing is stored and where this response is not. */
  const missing = (id: string) =>
    new ApiError(
      'not_found',
      services.responses === null
        ? 'Responses are not stored on this server.'
        : `There is no stored response ${JSON.stringify(id.slice(0, 100))}.`,
      { param: 'response_id' },
    );
  const findOwn = async (id: string, owner: string) => {
    const found = await services.responses?.find(id, owner);
    if (found === undefined) throw missing(id);
    return found;
  };
  const events = chunkStream<ResponseStreamEvent>();
  return router({
    create: procedure
      .meta({
        auth: 'bearer',
        errors: 'openai',
        streams: 'ResponseStreamEvent',
        fails: ['upstream_failed', 'upstream_timeout'],
        openapi: {
          method: 'POST',
          path: '/v1/responses',
          operationId: 'createResponse',
          tags: ['responses'],
          requestHeaders,
          summary: 'Answer a conversation of items',
          description: 'Replies with one JSON body, or with server-sent events when `stream` is true.',
        },
      })
      .output(z.union([events, responseObject]))
      .mutation(({ ctx, input }) =>
        input.stream ? streamResponse(services, ctx, input) : completeResponse(services, ctx, input),
      ),

    retrieve: stored
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['not_found'],
        openapi: {
          method: 'GET',
          path: '/v1/responses/{response_id}',
          operationId: 'retrieveResponse',
          tags: ['responses'],
          requestHeaders,
          summary: 'Read a stored response',
        },
      })
      .input(responseRetrieveInput)
      .output(responseObject)
      .query(async ({ ctx, input: { response_id: id } }) => {
        const found = await findOwn(id, responseOwner(ctx.principal));
        return found.response;
      }),

    inputItems: stored
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['not_found'],
        openapi: {
          method: 'GET',
          path: '/v1/responses/{response_id}/input_items',
          operationId: 'listResponseInputItems',
          tags: ['responses'],
          requestHeaders,
          summary: 'List the items that a stored response answered',
          description: 'Items of the responses that it continues are among them, their answers included.',
        },
      })
      .input(responseInputItemListInput)
      .output(responseInputItemList)
      .query(async ({ ctx, input: { response_id: id, ...page } }) => {
        const owner = responseOwner(ctx.principal);
        await findOwn(id, owner);
        return listInputItems(id, page, { store: services.responses, owner });
      }),

    cancel: stored
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['not_found', 'invalid_parameter'],
        openapi: {
          method: 'POST',
          path: '/v1/responses/{response_id}/cancel',
          operationId: 'cancelResponse',
          tags: ['responses'],
          requestHeaders,
          summary: 'Refused: only responses in the background can be cancelled, and there are none',
        },
      })
      .input(responseId)
      .output(responseObject)
      .mutation(async ({ ctx, input: { response_id: id } }) => {
        await findOwn(id, responseOwner(ctx.principal));
        throw new ApiError(
          'invalid_parameter',
          'Only responses in the background can be cancelled, and this one is complete. To end one early, close its connection.',
          { param: 'response_id' },
        );
      }),

    countInputTokens: procedure
      .meta({
        auth: 'bearer',
        errors: 'openai',
        openapi: {
          method: 'POST',
          path: '/v1/responses/input_tokens',
          operationId: 'countResponseInputTokens',
          tags: ['responses'],
          requestHeaders,
          summary: 'Count the prompt tokens of a response, without an answer',
        },
      })
      .output(responseInputTokens)
      .query(async ({ ctx, input }) => ({
        object: 'response.input_tokens' as const,
        input_tokens: await countInputTokens(services, ctx, input),
      })),

    delete: stored
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['not_found'],
        openapi: {
          method: 'DELETE',
          path: '/v1/responses/{response_id}',
          operationId: 'deleteResponse',
          tags: ['responses'],
          requestHeaders,
          summary: 'Delete a stored response',
          description: 'Responses that continue it cannot be continued any more.',
        },
      })
      .input(responseId)
      .output(deletedResponse)
      .mutation(async ({ ctx, input: { response_id: id } }) => {
        const isRemoved = await services.responses?.remove(id, responseOwner(ctx.principal));
        if (isRemoved !== true) throw missing(id);
        return { id, object: 'response' as const, deleted: true as const };
      }),

    complete: procedure.output(responseObject).mutation(({ ctx, input }) => {
      if (input.stream)
        throw new ApiError(
          'invalid_parameter',
          'responses.complete does not stream; call responses.stream.',
          {
            param: 'stream',
          },
        );
      return completeResponse(services, ctx, input);
    }),

    stream: procedureFor(asStreamed(responseRequest))
      .output(events)
      .mutation(({ ctx, input }) => streamResponse(services, ctx, { ...input, stream: true })),
  });
}
