// Starts one request on an engine and waits for its first event: whatever the engine refuses is thrown here, before a
// transport sends a status line. Chat and completions share it.

import type { GenerationEvent, GenerationRequest } from '@ortler/engine';
import { observeGeneration } from './chat/observe-generation.ts';
import { openEngine, servedId } from './ready-engine.ts';
import type { EngineLease, ServedModel, Services } from './services.ts';

export interface EventsStart {
  readonly services: Pick<Services, 'generations' | 'now'>;
  readonly model: ServedModel;
  /** Unit: milliseconds since 1970. When the request came. */
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  /** What a thrown value of the engine is on the wire. */
  readonly toApiError: (error: unknown) => unknown;
}

/** All events, the first one included. Throws: every refusal; the events end with an `ApiError` when the engine fails. */
export async function startEvents(
  request: GenerationRequest,
  { services, model, startedAtMs, signal, toApiError }: EventsStart,
): Promise<AsyncGenerator<GenerationEvent, void, undefined>> {
  const lease = await openEngine(model, signal);
  const events = translateErrors(
    observeGeneration(lease.engine.generate(request, signal), {
      services,
      modelId: servedId(model),
      choiceCount: request.choiceCount ?? 1,
      startedAtMs,
    }),
    toApiError,
    lease,
  );
  const first = await events.next();
  return startingWith(first, events);
}

// The engine is given back when the events end, also when a reader leaves.
async function* translateErrors<T>(
  events: AsyncIterable<T>,
  toApiError: (error: unknown) => unknown,
  { release }: EngineLease,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    throw toApiError(error);
  } finally {
    release();
  }
}

async function* startingWith<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    // A reader that leaves before asking for the second event must still end the generation.
    await rest.return();
  }
}
