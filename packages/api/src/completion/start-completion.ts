// Starts the generations of one completion request, one per prompt, and waits for the first event of each. Every
// refusal happens here, before a transport sends a status line.

import type { Engine, GenerationEvent } from '@ortler/engine';
import type { CompletionRequest } from '@ortler/schemas';
import { answerName } from '../generation/answer-name.ts';
import { toCachePartition } from '../generation/cache-partition.ts';
import { closingStream } from '../generation/closing-stream.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { toUsingCaller } from '../generation/generation-usage.ts';
import { findModel, openEngine, servedId } from '../generation/ready-engine.ts';
import { RunningGeneration } from '../generation/running-generation.ts';
import type { ServedModel, Services } from '../ports/services.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { type MergedItem, mergeStreams } from './merge-streams.ts';
import { toGenerationRequests } from './to-generation-requests.ts';
import { validateCompletionRequest } from './validate-completion-request.ts';

/** Fields that every reply to one request shares. */
export interface CompletionHeader {
  readonly id: string;
  readonly object: 'text_completion';
  /** Unit: seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** An event of one prompt. `index` is the place of the prompt. */
export type PromptEvent = MergedItem<GenerationEvent>;

export interface StartedCompletion {
  readonly header: CompletionHeader;
  readonly engine: Pick<Engine, 'decode'>;
  /** Reads the events of all prompts, once. */
  readonly read: <Item>(
    write: (event: PromptEvent) => readonly Item[],
  ) => AsyncGenerator<Item, void, undefined>;
}

/** A request that was checked, and the model that it names. */
export interface CheckedCompletion {
  readonly request: CompletionRequest;
  readonly model: ServedModel;
  /** Id of the answer. */
  readonly id: string;
}

/** Throws: what this server refuses of any completion, whichever model answers. */
export async function checkCompletion(
  services: Services,
  context: CallerContext,
  request: CompletionRequest,
): Promise<CheckedCompletion> {
  const model = await findModel(services, context.principal, request.model);
  validateCompletionRequest(request);
  const id = `cmpl-${answerName(context, request)}`;
  return { request, model, id };
}

/** Starts all generations. Throws: every refusal of the request by its model; one wrong prompt ends the others. */
export async function startCompletion(
  services: Services,
  context: CallerContext,
  { request, model, id }: CheckedCompletion,
): Promise<StartedCompletion> {
  const caller = toUsingCaller(context);
  const startedAtMs = services.now();
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const hasSeveral = request.prompt.length > 1;
  const toApiError = (promptIndex: number) => (error: unknown) =>
    fromEngineError(error, {
      structured_outputs: request.structured_outputs,
      logit_bias: request.logit_bias,
      promptField: 'prompt',
      promptIndex: hasSeveral ? promptIndex : undefined,
    });
  const cachePartition = toCachePartition(context.principal, request.cache_salt, services.promptCacheScope);
  const requests = toGenerationRequests(request, cachePartition);
  // One lease for all prompts, until the answer is written: that takes the texts of the engine's tokens.
  const { engine, release } = await openEngine(model, context.signal);
  const modelId = servedId(model);
  const start = { services, caller, engine, modelId, startedAtMs, signal };
  const starts = requests.map((generation, index) =>
    RunningGeneration.start(generation, {
      ...start,
      toApiError: toApiError(index),
      requestCount: index === 0 ? 1 : 0,
    }),
  );
  const sources = await allOrNone(starts, stop).catch((error: unknown) => {
    release();
    throw error;
  });
  const header: CompletionHeader = {
    id,
    object: 'text_completion',
    created: Math.floor(startedAtMs / 1000),
    model: modelId,
  };
  const onClose = async (): Promise<void> => {
    stop();
    await leaveAll(sources);
    release();
  };
  return {
    header,
    engine,
    read: write => closingStream(mergeStreams(sources, stop), { write, onClose }),
  };
}

async function allOrNone(
  starts: readonly Promise<RunningGeneration>[],
  stop: () => void,
): Promise<RunningGeneration[]> {
  try {
    return await Promise.all(starts);
  } catch (error) {
    stop();
    const settled = await Promise.allSettled(starts);
    await leaveAll(settled.flatMap(start => (start.status === 'fulfilled' ? [start.value] : [])));
    throw error;
  }
}

/** Ends all generations; it has no effect on those that have ended. */
async function leaveAll(generations: readonly RunningGeneration[]): Promise<void> {
  await Promise.all(generations.map(generation => generation.return()));
}
