// Starts the generations of one completion request, one per prompt, and waits for the first event of each. Everything
// that can be refused is refused here, before a transport sends a status line.

import type { Engine, GenerationEvent } from '@ortler/engine';
import type { CompletionRequest } from '@ortler/schemas';
import { toCachePartition } from '../chat/cache-partition.ts';
import { fromEngineError } from '../chat/engine-error.ts';
import { closingStream } from '../closing-stream.ts';
import { findModel, openEngine, servedId } from '../ready-engine.ts';
import type { Services } from '../services.ts';
import { startEvents } from '../start-events.ts';
import type { CallerContext } from '../trpc.ts';
import { type MergedItem, mergeStreams } from './merge-streams.ts';
import { toGenerationRequests } from './to-generation-requests.ts';
import { validateCompletionRequest } from './validate-completion-request.ts';

/** What every reply to one request shares. */
export interface CompletionHeader {
  readonly id: string;
  readonly object: 'text_completion';
  /** Unit: seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** Events of all prompts. `index` is the place of the prompt. */
export type CompletionEvents = AsyncGenerator<MergedItem<GenerationEvent>, void, undefined>;

export interface StartedCompletion {
  readonly header: CompletionHeader;
  readonly engine: Pick<Engine, 'decode'>;
  readonly events: CompletionEvents;
}

/** Starts all generations. Throws: every refusal of the request; one wrong prompt ends the others. */
export async function startCompletion(
  services: Services,
  context: CallerContext,
  request: CompletionRequest,
): Promise<StartedCompletion> {
  const model = await findModel(services, context.principal, request.model);
  validateCompletionRequest(request);
  const startedAtMs = services.now();
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const toApiError = (error: unknown) =>
    fromEngineError(error, {
      structured_outputs: request.structured_outputs,
      logit_bias: request.logit_bias,
      promptField: 'prompt',
    });
  const cachePartition = toCachePartition(context.principal, request.cache_salt, services.promptCacheScope);
  const requests = toGenerationRequests(request, {
    cachePartition,
    shownSpecialTokens: [],
    thinking: null,
  });
  // The engine is needed longer than its generations: the answer is written with its tokens' texts.
  const { engine, release } = await openEngine(model, context.signal);
  const starts = requests.map(generation =>
    startEvents(generation, { services, model, startedAtMs, signal, toApiError }),
  );
  const sources = await allOrNone(starts, stop).catch((error: unknown) => {
    release();
    throw error;
  });
  const header: CompletionHeader = {
    id: `cmpl-${context.headers['x-request-id'] ?? request.request_id ?? context.requestId}`,
    object: 'text_completion',
    created: Math.floor(startedAtMs / 1000),
    model: servedId(model),
  };
  const onClose = (): void => {
    stop();
    release();
  };
  return { header, engine, events: closingStream(mergeStreams(sources, stop), { onClose }) };
}

async function allOrNone<T>(
  starts: readonly Promise<AsyncGenerator<T, void, undefined>>[],
  stop: () => void,
): Promise<AsyncGenerator<T, void, undefined>[]> {
  try {
    return await Promise.all(starts);
  } catch (error) {
    stop();
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') await start.value.return();
    }
    throw error;
  }
}
