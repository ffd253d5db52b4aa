// The whole api as one tRPC router. REST routes are read from the procedures' metadata.

import type { Services } from './ports/services.ts';
import { createChatRouter } from './routers/chat.ts';
import { createCompletionsRouter } from './routers/completions.ts';
import { createFeedbackRouter } from './routers/feedback.ts';
import { createModelsRouter } from './routers/models.ts';
import { createResponsesRouter } from './routers/responses.ts';
import { createServerRouter } from './routers/server.ts';
import { createTokenizerRouter } from './routers/tokenizer.ts';
import { createTrainingRouter } from './routers/training.ts';
import { createUsageRouter } from './routers/usage.ts';
import { router } from './trpc/trpc.ts';

/** Builds every procedure over the given services. */
export function createAppRouter(services: Services) {
  return router({
    chat: createChatRouter(services),
    feedback: createFeedbackRouter(services),
    completions: createCompletionsRouter(services),
    responses: createResponsesRouter(services),
    models: createModelsRouter(services),
    training: createTrainingRouter(services),
    tokenizer: createTokenizerRouter(services),
    server: createServerRouter(services),
    usage: createUsageRouter(services),
  });
}

/** Type of the whole api, for typed clients. */
export type AppRouter = ReturnType<typeof createAppRouter>;
