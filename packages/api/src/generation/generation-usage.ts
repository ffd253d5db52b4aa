// Counts what one generation used: against the rate limits as it becomes known, and for the usage report at the end.
// Caller: `running-generation.ts`.

import type { TokenUsage } from '@ortler/engine';
import type { Principal, Services } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';
import type { CallerContext } from '../trpc/trpc.ts';

/** Whose usage it is. */
export interface UsingCaller {
  readonly principal: Principal;
  /** Null: the request named none. */
  readonly project: string | null;
}

export interface UsedGeneration {
  readonly services: Pick<Services, 'now' | 'limits' | 'usage'>;
  readonly caller: UsingCaller;
  readonly modelId: string;
  readonly requestCount?: number;
}

/** Maximum length of a project's name, which is a column of the usage report. */
const LONGEST_PROJECT = 256;

/**
 * The caller of a request. The project is the header `Vendor-Project` as it stands, or OpenAI's `OpenAI-Project`, which its
 * clients send; the team is always that of the key.
 * Throws: `invalid_parameter`.
 */
export function toUsingCaller({
  principal,
  headers,
}: Pick<CallerContext, 'principal' | 'headers'>): UsingCaller {
  const project = headers['vendor-project'] || headers['openai-project'] || null;
  if (project !== null && project.length > LONGEST_PROJECT)
    throw new ApiError(
      'invalid_parameter',
      `The header Vendor-Project or OpenAI-Project is longer than ${LONGEST_PROJECT} characters.`,
    );
  return { principal, project };
}

export class GenerationUsage {
  readonly #generation: UsedGeneration;

  constructor(generation: UsedGeneration) {
    this.#generation = generation;
  }

  chargePrompt({ promptTokenCount }: TokenUsage): void {
    const { services, caller } = this.#generation;
    services.limits.charge(caller.principal, promptTokenCount);
  }

  /** Nothing is counted for a request that never ran. */
  async end({ promptTokenCount, cachedTokenCount, completionTokenCount }: TokenUsage): Promise<void> {
    if (promptTokenCount === 0) return;
    const { services, caller, modelId, requestCount = 1 } = this.#generation;
    const { principal, project } = caller;
    services.limits.charge(principal, completionTokenCount);
    await services.usage.record({
      atMs: services.now(),
      keyId: principal.keyId,
      team: principal.team ?? null,
      project,
      model: modelId,
      requestCount,
      inputTokenCount: promptTokenCount,
      cachedTokenCount,
      outputTokenCount: completionTokenCount,
    });
  }
}
