// POST /v1/responses: OpenAI's newer endpoint, answered by the same engine as a chat. One function answers REST and tRPC;
// the procedures differ only in the type of reply that they promise.

import { type ResponseStreamEvent, responseObject, responseRequest } from '@ortler/schemas';
import { z } from 'zod';
import type { Services } from '../ports/services.ts';
import { completeResponse, streamResponse } from '../response/start-response.ts';
import { refuseLargeFaultyInput } from '../trpc/bounded-input.ts';
import { chunkStream } from '../trpc/chunk-stream.ts';
import { ApiError } from '../trpc/errors.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

/**
 * Router of responses.
 *
 * - `create`: what REST calls; replies with a response, or with events when `stream` is true.
 * - `complete` and `stream`: the same for typed clients, each with one type of reply.
 */
export function createResponsesRouter(services: Services) {
  const procedure = createBearerProcedure(services)
    .use(refuseLargeFaultyInput(responseRequest))
    .meta({ auth: 'bearer', errors: 'openai' });
  const events = chunkStream<ResponseStreamEvent>();
  return router({
    create: procedure
      .meta({
        auth: 'bearer',
        errors: 'openai',
        streams: 'ResponseStreamEvent',
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
      .input(responseRequest)
      .output(z.union([responseObject, events]))
      .mutation(({ ctx, input }) =>
        input.stream ? streamResponse(services, ctx, input) : completeResponse(services, ctx, input),
      ),

    complete: procedure
      .input(responseRequest)
      .output(responseObject)
      .mutation(({ ctx, input }) => {
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

    stream: procedure
      .input(responseRequest)
      .output(events)
      .mutation(({ ctx, input }) => streamResponse(services, ctx, { ...input, stream: true })),
  });
}
