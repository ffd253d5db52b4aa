// An `Engine` without a model: it answers with given pieces of text and records what it was asked.
// It keeps the contract's order of events, its errors before the first event, and its abort.

import {
  type Engine,
  EngineError,
  type EngineHealth,
  type EngineInfo,
  type GenerateOptions,
  type GenerationEvent,
  type GenerationRequest,
  type Prompt,
  type PromptTiming,
  type TokenDeltaEvent,
  validateSamplingParams,
} from '@ortler/engine';

export interface FakeEngineScript {
  /** Pieces of text, one token each; every choice gets them. */
  readonly pieces?: readonly string[];
  /** Calls after the text of an answer to a request with tools: one token opens each, one more is each piece. */
  readonly calls?: readonly { readonly name: string; readonly pieces: readonly string[] }[];
  readonly finishReason?: 'stop' | 'length' | 'abort';
  readonly stopReason?: string | number | null;
  readonly cachedTokenCount?: number;
  readonly timing?: PromptTiming;
  readonly decodeMs?: number;
  /** Thrown before the first event. */
  readonly refuse?: Error;
  /** Thrown instead of the token with this number. */
  readonly failAt?: { readonly tokenNumber: number; readonly error: unknown };
  /** Awaited before every token, so that a test can hold the stream. */
  readonly beforeToken?: (tokenNumber: number) => Promise<void>;
  readonly info?: Partial<EngineInfo>;
  readonly health?: Partial<EngineHealth>;
}

export interface FakeEngine extends Engine {
  /** Every request in the order it came. */
  readonly requests: GenerationRequest[];
  /** How many generations ended because the caller left. */
  readonly abortedCount: number;
  readonly closed: boolean;
}

const PROMPT_TOKEN_IDS = [11, 12, 13];

/** Builds a fake engine. Its token ids count up from 100, the end-of-sequence id is 2. */
export function createFakeEngine(script: FakeEngineScript = {}): FakeEngine {
  const requests: GenerationRequest[] = [];
  let abortedCount = 0;
  let closed = false;
  const info: EngineInfo = {
    backend: 'node',
    runner: 'scripted',
    device: 'cpu',
    vocabSize: 512,
    contextLength: 256,
    maxSequences: 4,
    onnxRuntimeVersion: '0.0.0',
    weightBytes: 0,
    cacheBytes: 0,
    cacheBlockLength: 16,
    cacheBlockCount: 64,
    modelType: 'llama',
    precision: 'f32',
    kvType: 'float32',
    parameterCount: 0,
    eosTokenIds: [2],
    chatTemplate: '{{ messages }}',
    reasoningFormat: null,
    samplingDefaults: {},
    ...script.info,
  };
  const health: EngineHealth = {
    state: 'ready',
    restartCount: 0,
    lastError: null,
    stats: {
      runningCount: 0,
      waitingCount: 0,
      freeSlotCount: 4,
      cacheUsedShare: 0,
      stepCount: 0,
      stepSizes: { counts: [], tokenCount: 0 },
      preemptionCount: 0,
      cacheQueryTokenCount: 0,
      cacheHitTokenCount: 0,
      draftedTokenCount: 0,
      acceptedTokenCount: 0,
    },
    ...script.health,
  };

  async function* generate(
    request: GenerationRequest,
    { signal }: GenerateOptions = {},
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    requests.push(request);
    validateSamplingParams(request.sampling ?? {});
    if ((request.priority ?? 0) !== 0) {
      const message = 'priority must be 0: this engine serves requests as they come.';
      throw new EngineError('invalid_request', message, { parameter: 'priority' });
    }
    if (script.refuse) throw script.refuse;
    const choiceCount = request.choiceCount ?? 1;
    const outputs = toOutputs(script, request);
    const hasCalls = outputs.some(({ toolCalls }) => toolCalls !== undefined);
    const cachedTokenCount = script.cachedTokenCount ?? 0;
    const { timing, decodeMs } = script;
    let ended = false;
    try {
      throwIfAborted(signal);
      yield {
        kind: 'prompt-ready',
        promptTokenIds: PROMPT_TOKEN_IDS,
        cachedTokenCount,
        ...(timing && { timing }),
      };
      for (const [number, output] of outputs.entries()) {
        await untilAborted(script.beforeToken?.(number), signal);
        throwIfAborted(signal);
        if (script.failAt?.tokenNumber === number) throw script.failAt.error;
        for (let choiceIndex = 0; choiceIndex < choiceCount; choiceIndex++) {
          const isLast = number === outputs.length - 1;
          yield {
            kind: 'token-delta',
            choiceIndex,
            ...output,
            reasoning: '',
            isReasoning: false,
            tokenIds: [100 + number],
            finish: isLast
              ? {
                  reason: script.finishReason ?? (hasCalls ? 'tool-calls' : 'stop'),
                  stopReason: script.stopReason ?? null,
                }
              : null,
          };
        }
      }
      const completionTokenCount = outputs.length * choiceCount;
      const promptTokenCount = PROMPT_TOKEN_IDS.length;
      yield {
        kind: 'request-finish',
        usage: { promptTokenCount, completionTokenCount, cachedTokenCount },
        ...(decodeMs !== undefined && { decodeMs }),
      };
      ended = true;
    } finally {
      if (!ended) abortedCount++;
    }
  }

  const close = () => {
    closed = true;
    return Promise.resolve();
  };
  return {
    info,
    health,
    requests,
    get abortedCount() {
      return abortedCount;
    },
    get closed() {
      return closed;
    },
    generate,
    renderChat: messages => Promise.resolve(JSON.stringify(messages)),
    encodePrompt: prompt => Promise.resolve(encodeFakePrompt(prompt)),
    encode: text => Promise.resolve(Array.from(text, character => character.codePointAt(0)!)),
    decode: tokenIds => String.fromCodePoint(...tokenIds),
    vocabularyTexts: tokenIds => tokenIds.map(id => `Ġ${String.fromCodePoint(id)}`),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A token for each character of the text, or of the messages as JSON. */
function encodeFakePrompt(prompt: Prompt): readonly number[] {
  if (typeof prompt === 'object' && prompt.tokenIds !== undefined) return [...prompt.tokenIds];
  const text = typeof prompt === 'string' ? prompt : (prompt.text ?? JSON.stringify(prompt.messages));
  return Array.from(text, character => character.codePointAt(0)!);
}

/** The text of each token, or its part of a call. */
function toOutputs(
  { pieces, calls }: FakeEngineScript,
  { tools }: GenerationRequest,
): Pick<TokenDeltaEvent, 'text' | 'toolCalls'>[] {
  if (calls === undefined || tools === undefined)
    return (pieces ?? ['Hello', ' world', '!']).map(text => ({ text }));
  const ofCalls = calls.flatMap(({ name, pieces }, index) => [
    { index, start: { id: `call_${index}`, name }, arguments: '' },
    ...pieces.map(text => ({ index, arguments: text })),
  ]);
  return [
    ...(pieces ?? []).map(text => ({ text })),
    ...ofCalls.map(call => ({ text: '', toolCalls: [call] })),
  ];
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new EngineError('aborted', 'The caller left.', { cause: signal.reason });
}

async function untilAborted(wait: Promise<void> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (wait === undefined || signal === undefined) return wait;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([wait, promise]);
  signal.removeEventListener('abort', stop);
}
