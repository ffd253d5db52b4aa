// Conformance suite of all links, wherever the token side runs. Each implementation's test calls this with a factory
// of links over the scripted token side.

import { afterEach, describe, expect, test } from 'vitest';
import type { EngineError } from '../src/errors.ts';
import type { CoreLink } from '../src/link/core-link.ts';
import type { RestartPolicy } from '../src/link/restart-schedule.ts';
import type { CoreFacts, FromCoreMessage, SubmitMessage, WarmUpProgress } from '../src/protocol/messages.ts';
import type { CoreOptions } from '../src/protocol/options.ts';
import { NEUTRAL_SAMPLING } from '../src/request/sampling-params.ts';
import {
  ECHO_TOKEN,
  MISSING_MODEL_DIR,
  POISON_TOKEN,
  SCRIPTED_CORE_OPTIONS,
  SCRIPTED_EOS_TOKEN,
  SCRIPTED_WARM_UP_COUNT,
} from '../src/testing/scripted-core.ts';

export type LinkFactory = (options: CoreOptions, policy: RestartPolicy) => CoreLink;

const QUICK_RESTART: RestartPolicy = { firstDelayMs: 20, longestDelayMs: 40, healthyMs: 60_000 };

/** Records what a link says and lets a test wait for it. */
export class RecordingListener {
  readonly downErrors: EngineError[] = [];
  readonly readyFacts: CoreFacts[] = [];
  readonly messages: Extract<FromCoreMessage, { kind: 'step' | 'request-failed' }>[] = [];
  readonly warmUps: WarmUpProgress[] = [];
  readonly #checks: (() => void)[] = [];

  readonly onDown = (error: EngineError): void => {
    this.downErrors.push(error);
    this.#changed();
  };

  readonly onWarmUp = (progress: WarmUpProgress): void => {
    this.warmUps.push(progress);
  };

  readonly onReady = (facts: CoreFacts): void => {
    this.readyFacts.push(facts);
    this.#changed();
  };

  readonly onMessage = (message: (typeof this.messages)[number]): void => {
    this.messages.push(message);
    this.#changed();
  };

  /** Tokens of a request's choice so far, and whether it has ended. */
  outcome(requestId: number, choiceIndex = 0) {
    const updates = this.messages
      .flatMap(message => (message.kind === 'step' ? message.updates : []))
      .filter(update => update.requestId === requestId && update.choiceIndex === choiceIndex);
    return {
      tokenIds: updates.flatMap(update => [...update.tokenIds]),
      finish: updates.find(update => update.finish !== undefined)?.finish,
    };
  }

  failure(requestId: number) {
    return this.messages.find(
      message => message.kind === 'request-failed' && message.requestId === requestId,
    );
  }

  /** Resolves once the condition holds; the test's own time limit is the only one. */
  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const check = (): boolean => {
        if (condition()) resolve();
        return condition();
      };
      if (!check()) this.#checks.push(check);
    });
  }

  #changed(): void {
    for (const check of this.#checks) check();
  }
}

/** A request for the scripted model to repeat these tokens. */
export function echoRequest(
  requestId: number,
  answer: readonly number[],
  more: Partial<SubmitMessage> = {},
): SubmitMessage {
  return {
    kind: 'submit',
    requestId,
    promptTokenIds: Int32Array.of(...answer, ECHO_TOKEN),
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, temperature: 0, seed: 1n },
    maxTokens: 100,
    minTokens: 0,
    eosTokenIds: [SCRIPTED_EOS_TOKEN],
    stopTokenIds: [],
    minTokensBannedIds: [],
    ...more,
  };
}

export function coreLinkConformance(name: string, createLink: LinkFactory): void {
  describe(`${name} link`, () => {
    const open: CoreLink[] = [];
    const start = async (options: CoreOptions = SCRIPTED_CORE_OPTIONS) => {
      const link = createLink(options, QUICK_RESTART);
      open.push(link);
      const listener = new RecordingListener();
      const facts = await link.start(listener);
      return { link, listener, facts };
    };
    afterEach(async () => {
      await Promise.all(open.splice(0).map(link => link.close()));
    });

    test('is ready with the facts of the model', async () => {
      const { link, listener, facts } = await start();
      expect(facts).toMatchObject({ runner: 'scripted', maxSequences: 4, contextLength: 256 });
      expect(listener.readyFacts).toEqual([facts]);
      expect(link.state).toBe('ready');
      expect(link.stats.freeSlotCount).toBe(4);
    });

    test('reports the progress of the warm-up of a model before it is ready', async () => {
      const { listener } = await start();
      expect(listener.warmUps).toEqual(
        Array.from({ length: SCRIPTED_WARM_UP_COUNT + 1 }, (_, doneCount) => ({
          doneCount,
          totalCount: SCRIPTED_WARM_UP_COUNT,
        })),
      );
    });

    test('delivers the tokens of every request, in order and each once', async () => {
      const { link, listener } = await start();
      for (let id = 1; id <= 9; id++) link.submit(echoRequest(id, [id + 10, id + 20, id + 30, id + 10]));
      await listener.until(() =>
        Array.from({ length: 9 }, (_, i) => i + 1).every(id => listener.outcome(id).finish !== undefined),
      );
      for (let id = 1; id <= 9; id++) {
        expect(listener.outcome(id)).toEqual({
          tokenIds: [id + 10, id + 20, id + 30, id + 10, SCRIPTED_EOS_TOKEN],
          finish: { reason: 'stop', stopTokenId: null },
        });
      }
      const prefilled = listener.messages.flatMap(message =>
        message.kind === 'step' ? message.prefilled : [],
      );
      expect(prefilled.map(each => each.requestId).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(link.stats).toMatchObject({ runningCount: 0, waitingCount: 0, freeSlotCount: 4 });
    });

    test('ends one choice or a whole request on abort and leaves the others alone', async () => {
      const { link, listener } = await start();
      const ignoreEos = { eosTokenIds: [], maxTokens: 200 };
      link.submit(echoRequest(1, [11], ignoreEos));
      link.submit(
        echoRequest(2, [12], {
          ...ignoreEos,
          choiceCount: 2,
          sampling: { ...NEUTRAL_SAMPLING, seed: 3n },
        }),
      );
      link.submit(echoRequest(3, [13, 14]));
      await listener.until(() => listener.outcome(2, 1).tokenIds.length > 0);
      link.abort({ kind: 'abort', requestId: 2, choiceIndex: 1 });
      link.abort({ kind: 'abort', requestId: 99 });
      await listener.until(() => listener.outcome(2, 1).finish !== undefined);
      expect(listener.outcome(2, 1).finish?.reason).toBe('abort');
      expect(listener.outcome(2, 0).finish).toBeUndefined();
      link.abort({ kind: 'abort', requestId: 1 });
      link.abort({ kind: 'abort', requestId: 1 });
      link.abort({ kind: 'abort', requestId: 2 });
      await listener.until(() => [1, 2, 3].every(id => listener.outcome(id).finish !== undefined));
      expect(listener.outcome(3).tokenIds).toEqual([13, 14, SCRIPTED_EOS_TOKEN]);
      expect(listener.outcome(1).tokenIds.length).toBeLessThan(200);
    });

    test('gives a paused choice no more tokens until it is resumed, and the others theirs', async () => {
      const { link, listener } = await start();
      const answer = Array.from({ length: 60 }, (_, i) => 11 + i);
      link.submit(echoRequest(1, answer));
      await listener.until(() => listener.outcome(1).tokenIds.length > 2);
      link.setPaused({ kind: 'pause', requestId: 1, choiceIndex: 0 });
      link.setPaused({ kind: 'pause', requestId: 99, choiceIndex: 0 });
      link.submit(echoRequest(2, [12, 13]));
      await listener.until(() => listener.outcome(2).finish !== undefined);
      // Whatever was under way has come; from here on there is silence.
      const { length } = listener.outcome(1).tokenIds;
      link.submit(echoRequest(3, [14, 15]));
      await listener.until(() => listener.outcome(3).finish !== undefined);
      expect(listener.outcome(1).tokenIds).toHaveLength(length);
      expect(length).toBeLessThan(answer.length);
      link.setPaused({ kind: 'resume', requestId: 1, choiceIndex: 0 });
      await listener.until(() => listener.outcome(1).finish !== undefined);
      expect(listener.outcome(1).tokenIds).toEqual([...answer, SCRIPTED_EOS_TOKEN]);
    });

    test('reports a refused request alone, with its code', async () => {
      const { link, listener } = await start();
      link.submit(echoRequest(1, [11], { maxTokens: 10_000 }));
      link.submit(echoRequest(2, [12]));
      await listener.until(
        () => listener.failure(1) !== undefined && listener.outcome(2).finish !== undefined,
      );
      expect(listener.failure(1)).toMatchObject({ code: 'prompt_too_long' });
      expect(listener.outcome(2).tokenIds).toEqual([12, SCRIPTED_EOS_TOKEN]);
    });

    test('says at start that a model cannot be loaded', async () => {
      const link = createLink({ ...SCRIPTED_CORE_OPTIONS, modelDir: MISSING_MODEL_DIR }, QUICK_RESTART);
      open.push(link);
      await expect(link.start(new RecordingListener())).rejects.toMatchObject({ code: 'model_invalid' });
      expect(link.state).toBe('failed');
      expect(() => link.submit(echoRequest(1, [11]))).toThrow(
        expect.objectContaining({ code: 'model_unavailable' }),
      );
    });

    test('says that a broken token side is down, loads it again and serves on', async () => {
      const { link, listener } = await start();
      link.submit(echoRequest(1, [11], { eosTokenIds: [], maxTokens: 200 }));
      await listener.until(() => listener.outcome(1).tokenIds.length > 0);
      link.submit(echoRequest(2, [POISON_TOKEN, 12]));
      await listener.until(() => listener.downErrors.length > 0);
      expect(listener.downErrors[0]).toMatchObject({ code: 'engine_failed' });
      expect(link.state).toBe('restarting');
      expect(link.stats.runningCount).toBe(0);
      expect(() => link.submit(echoRequest(3, [13]))).toThrow(
        expect.objectContaining({ code: 'model_unavailable', retryAfterMs: expect.any(Number) }),
      );
      await listener.until(() => listener.readyFacts.length === 2);
      expect(link.state).toBe('ready');
      link.submit(echoRequest(4, [14, 15]));
      await listener.until(() => listener.outcome(4).finish !== undefined);
      expect(listener.outcome(4).tokenIds).toEqual([14, 15, SCRIPTED_EOS_TOKEN]);
      expect(listener.outcome(1).finish).toBeUndefined();
    });

    test('ends open requests and refuses new ones when it is closed', async () => {
      const { link, listener } = await start();
      link.submit(echoRequest(1, [11], { eosTokenIds: [], maxTokens: 200 }));
      await listener.until(() => listener.outcome(1).tokenIds.length > 0);
      const closing = link.close();
      expect(link.state).toBe('closed');
      expect(listener.downErrors).toEqual([expect.objectContaining({ code: 'engine_closed' })]);
      expect(() => link.submit(echoRequest(2, [12]))).toThrow(
        expect.objectContaining({ code: 'engine_closed' }),
      );
      link.abort({ kind: 'abort', requestId: 1 });
      await closing;
      await link.close();
    });
  });
}
