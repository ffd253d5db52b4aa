// Passes the engine's events on and reports the generation once, however it ends.

import { EngineError, type GenerationEvent } from '@ortler/engine';
import type { GenerationReport, Services } from '../services.ts';
import { TokenTimes } from './token-times.ts';

export interface ObservedGeneration {
  readonly services: Pick<Services, 'generations' | 'now'>;
  readonly modelId: string;
  readonly choiceCount: number;
  readonly startedAtMs: number;
}

/** The same events; `services.generations` hears of the end exactly once. */
export async function* observeGeneration(
  events: AsyncIterable<GenerationEvent>,
  { services, modelId, choiceCount, startedAtMs }: ObservedGeneration,
): AsyncGenerator<GenerationEvent, void, undefined> {
  let outcome: GenerationReport['outcome'] = 'aborted';
  let promptTokenCount = 0;
  const tokens = new TokenTimes();
  let timing: GenerationReport['timing'] = null;
  let decodeMs: number | null = null;
  const finishReasons: string[] = [];
  try {
    for await (const event of events) {
      if (event.kind === 'prompt-ready') {
        promptTokenCount = event.promptTokenIds.length;
        timing = event.timing ?? null;
      } else if (event.kind !== 'request-finish') {
        tokens.came(event, services.now());
        if (event.kind === 'choice-finish') finishReasons.push(event.finishReason);
      } else {
        outcome = 'finished';
        decodeMs = event.decodeMs ?? null;
      }
      yield event;
    }
  } catch (error) {
    outcome = outcomeOf(error, promptTokenCount > 0);
    throw error;
  } finally {
    services.generations.generationEnded({
      modelId,
      outcome,
      finishReasons,
      promptTokenCount,
      completionTokenCount: tokens.count,
      choiceCount,
      longestChoiceTokenCount: tokens.longestChoiceCount,
      durationMs: services.now() - startedAtMs,
      firstTokenMs: tokens.firstAtMs === null ? null : tokens.firstAtMs - startedAtMs,
      tokenGapsMs: tokens.gapsMs,
      timing,
      decodeMs,
    });
  }
}

function outcomeOf(error: unknown, hasStarted: boolean): GenerationReport['outcome'] {
  if (!(error instanceof EngineError)) return 'failed';
  if (error.code === 'aborted') return 'aborted';
  return hasStarted || error.code === 'engine_failed' ? 'failed' : 'refused';
}
