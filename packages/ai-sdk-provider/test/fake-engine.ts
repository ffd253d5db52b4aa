// A generation engine without a model: it gives scripted deltas, and keeps the requests it got. Like the real one it throws
// before its first event, and ends with `aborted` when its signal fires.

import {
  EngineError,
  type GenerateOptions,
  type GenerationEvent,
  type GenerationRequest,
  type TokenDeltaEvent,
} from '@ortler/engine';
import type { GenerationEngine } from '../src/generation-engine.ts';

export interface FakeEngineScript {
  /** One token each, the last one with `finish`. Default: a text of two tokens. */
  readonly deltas?: readonly Partial<TokenDeltaEvent>[];
  /** Thrown before the first event. */
  readonly refusal?: Error;
  /** Thrown in place of the end. */
  readonly failure?: Error;
  readonly chatTemplate?: string | null;
}

export interface FakeEngine extends GenerationEngine {
  readonly requests: GenerationRequest[];
  /** Deltas that were asked for so far. */
  readonly readCount: number;
  /** Generations that have ended, in whatever way. */
  readonly endedCount: number;
}

const PROMPT_TOKEN_IDS = [11, 12, 13, 14];
const CACHED_TOKEN_COUNT = 3;

export function createFakeEngine(script: FakeEngineScript = {}): FakeEngine {
  const { deltas = [{ text: 'Hello' }, { text: ' there' }], refusal, failure, chatTemplate = null } = script;
  const requests: GenerationRequest[] = [];
  let readCount = 0;
  let endedCount = 0;

  async function* generate(
    request: GenerationRequest,
    { signal }: GenerateOptions = {},
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    requests.push(request);
    try {
      throwIfAborted(signal);
      if (refusal !== undefined) throw refusal;
      yield {
        kind: 'prompt-ready',
        promptTokenIds: PROMPT_TOKEN_IDS,
        cachedTokenCount: CACHED_TOKEN_COUNT,
        timing: { queuedMs: 1, prefillMs: 2 },
      };
      for (const [index, delta] of deltas.entries()) {
        throwIfAborted(signal);
        readCount++;
        const isLast = failure === undefined && index === deltas.length - 1;
        yield {
          kind: 'token-delta',
          choiceIndex: 0,
          text: '',
          reasoning: '',
          isReasoning: false,
          tokenIds: [100 + index],
          finish: isLast ? { reason: 'stop', stopReason: null } : null,
          ...delta,
        };
      }
      if (failure !== undefined) throw failure;
      yield {
        kind: 'request-finish',
        usage: {
          promptTokenCount: PROMPT_TOKEN_IDS.length,
          completionTokenCount: deltas.length,
          cachedTokenCount: CACHED_TOKEN_COUNT,
        },
        decodeMs: 3,
      };
    } finally {
      endedCount++;
    }
  }

  return {
    info: { modelType: 'llama', chatTemplate },
    generate,
    requests,
    get readCount() {
      return readCount;
    },
    get endedCount() {
      return endedCount;
    },
  };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new EngineError('aborted', 'The request was aborted.', { cause: signal.reason });
}
