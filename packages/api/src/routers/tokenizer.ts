// POST /tokenize and POST /detokenize: what a model's tokenizer makes of a text or a conversation, and back. Nothing is
// generated.

import {
  type DetokenizeRequest,
  detokenizeRequest,
  detokenizeResult,
  type TokenizeRequest,
  type TokenizeResult,
  tokenizeRequest,
  tokenizeResult,
} from '@ortler/schemas';
import type { Services } from '../ports/services.ts';
import { detokenize } from '../tokenizer/detokenize.ts';
import { tokenize } from '../tokenizer/tokenize.ts';
import { orJsonText, toResult } from '../trpc/json-text.ts';
import { createOpenAiProcedures } from '../trpc/openai-procedure.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { type CallerContext, router } from '../trpc/trpc.ts';

/** Router of `encode` (POST /tokenize) and `decode` (POST /detokenize). */
export function createTokenizerRouter(services: Services) {
  const procedureFor = createOpenAiProcedures(services);
  return router({
    encode: procedureFor(tokenizeRequest)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        openapi: {
          method: 'POST',
          path: '/tokenize',
          operationId: 'tokenize',
          tags: ['tokenizer'],
          requestHeaders,
          summary: 'Give the tokens of a text or of a conversation',
          description: 'A conversation is written with the chat template, exactly as a chat would be.',
        },
      })
      .output(orJsonText(tokenizeResult))
      .query(
        async ({ ctx, input }: { ctx: CallerContext; input: TokenizeRequest }): Promise<TokenizeResult> =>
          toResult(ctx, await tokenize(services, input, ctx)),
      ),

    decode: procedureFor(detokenizeRequest)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        openapi: {
          method: 'POST',
          path: '/detokenize',
          operationId: 'detokenize',
          tags: ['tokenizer'],
          requestHeaders,
          summary: 'Give the text of tokens',
        },
      })
      .output(detokenizeResult)
      .query(({ ctx, input }: { ctx: CallerContext; input: DetokenizeRequest }) =>
        detokenize(services, input, ctx),
      ),
  });
}
