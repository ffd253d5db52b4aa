import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { ScriptedModel, type ScriptedModelOptions } from '../testing/scripted-model.ts';
import { submission } from '../testing/submission.ts';
import type { EngineCoreSettings } from './core-settings.ts';
import { type CoreOutput, EngineCore } from './engine-core.ts';
import { HostStepRunner } from './step/host-step-runner.ts';

function createCore(model: ScriptedModelOptions = {}, settings: Partial<EngineCoreSettings> = {}) {
  const runner = new ScriptedModel(model);
  const core = new EngineCore(new HostStepRunner(runner), {
    prefillChunkLength: 16,
    maxQueuedSequences: 16,
    ...settings,
  });
  return { runner, core };
}

async function drain(core: EngineCore): Promise<CoreOutput[]> {
  const outputs: CoreOutput[] = [];
  while (core.hasWork) {
    outputs.push(...(await core.step()));
    expect(core.findViolations()).toEqual([]);
    expect(outputs.length).toBeLessThan(10_000);
  }
  expect(core.stats.freeSlotCount).toBe(core.facts.maxSequences);
  return outputs;
}

function updatesOf(outputs: readonly CoreOutput[], requestId: number, choiceIndex = 0) {
  return outputs
    .flatMap(output => (output.kind === 'step' ? output.updates : []))
    .filter(update => update.requestId === requestId && update.choiceIndex === choiceIndex);
}

function tokensOf(outputs: readonly CoreOutput[], requestId: number, choiceIndex = 0): number[] {
  return updatesOf(outputs, requestId, choiceIndex).flatMap(update => update.tokenIds);
}

/** A model that counts upwards from the last token. */
const counting = { nextToken: (history: readonly number[]) => (history.at(-1)! + 1) % 64 };

describe('EngineCore', () => {
  it('gives the tokens the model prefers and ends at the length', async () => {
    const { core } = createCore(counting);
    core.submit(submission(7));
    const outputs = await drain(core);
    expect(tokensOf(outputs, 7)).toEqual([4, 5, 6, 7]);
    expect(updatesOf(outputs, 7).at(-1)?.finish).toEqual({ reason: 'length', stopTokenId: null });
  });

  it('ends on an end-of-sequence token without a stop token id', async () => {
    const { core } = createCore(counting);
    core.submit(submission(1, { eosTokenIds: [5], stopTokenIds: [5] }));
    const outputs = await drain(core);
    expect(tokensOf(outputs, 1)).toEqual([4, 5]);
    expect(updatesOf(outputs, 1).at(-1)?.finish).toEqual({ reason: 'stop', stopTokenId: null });
  });

  it('ends on a stop token with its id, also on the last allowed token', async () => {
    const { core } = createCore(counting);
    core.submit(submission(1, { stopTokenIds: [7] }));
    const outputs = await drain(core);
    expect(updatesOf(outputs, 1).at(-1)?.finish).toEqual({ reason: 'stop', stopTokenId: 7 });
  });

  it('draws no end-of-sequence or stop token before the minimum length', async () => {
    const { core } = createCore({ nextToken: () => 9, vocabSize: 16 });
    core.submit(
      submission(1, {
        eosTokenIds: [9],
        stopTokenIds: [8],
        minTokensBannedIds: [8, 9],
        minTokens: 3,
        maxTokens: 10,
      }),
    );
    const tokens = tokensOf(await drain(core), 1);
    expect(tokens).toHaveLength(4);
    expect(tokens.slice(0, 3)).not.toContain(9);
    expect(tokens.slice(0, 3)).not.toContain(8);
    expect(tokens[3]).toBe(9);
  });

  it('reports a request as prefilled exactly once, with its first token', async () => {
    const { core } = createCore(counting);
    core.submit(submission(3, { choiceCount: 2 }));
    const steps = (await drain(core)).filter(output => output.kind === 'step');
    const reported = steps.flatMap(step => step.prefilled.map(entry => [step, entry] as const));
    expect(reported.map(([, entry]) => entry)).toEqual([
      {
        requestId: 3,
        cachedTokenCount: 0,
        timing: { queuedMs: expect.any(Number), prefillMs: expect.any(Number) },
      },
    ]);
    expect(reported[0]![0].updates.map(update => update.requestId)).toContain(3);
  });

  it('reports how long a request waited and how long its prompt took, each from the beginning', async () => {
    let nowMs = 0;
    const nextToken = (history: readonly number[]) => {
      nowMs += 10;
      return counting.nextToken(history);
    };
    const { core } = createCore({ nextToken, slotCount: 1 }, { now: () => nowMs, drafter: null });
    core.submit(submission(1));
    nowMs += 5;
    core.submit(submission(2));
    nowMs += 5;
    const prefilled = (await drain(core)).flatMap(output => (output.kind === 'step' ? output.prefilled : []));
    // Four tokens of the first one come before the first step of the second.
    expect(prefilled.map(({ requestId, timing }) => ({ requestId, ...timing }))).toEqual([
      { requestId: 1, queuedMs: 10, prefillMs: 10 },
      { requestId: 2, queuedMs: 45, prefillMs: 10 },
    ]);
  });

  it('computes the prompt once for all choices', async () => {
    const { core, runner } = createCore({ ...counting, slotCount: 4 });
    core.submit(
      submission(1, { choiceCount: 3, promptTokenIds: Int32Array.from({ length: 12 }, (_, i) => i) }),
    );
    await drain(core);
    const prefilledTokens = runner.calls.flat().filter(row => row.tokenCount > 1);
    expect(prefilledTokens).toMatchObject([{ slot: 0, tokenCount: 12, computedLength: 0 }]);
  });

  it('keeps decoding while a long prompt is prefilled in chunks', async () => {
    const { core, runner } = createCore(counting, { prefillChunkLength: 4 });
    core.submit(submission(1, { maxTokens: 20 }));
    await core.step();
    core.submit(submission(2, { promptTokenIds: new Int32Array(11).fill(5) }));
    await drain(core);
    expect(runner.calls.slice(1, 4)).toMatchObject([
      [
        { slot: 0, tokenCount: 1, computedLength: 3 },
        { slot: 1, tokenCount: 4, computedLength: 0 },
      ],
      [
        { slot: 0, tokenCount: 1, computedLength: 4 },
        { slot: 1, tokenCount: 4, computedLength: 4 },
      ],
      [
        { slot: 0, tokenCount: 1, computedLength: 5 },
        { slot: 1, tokenCount: 3, computedLength: 8 },
      ],
    ]);
  });

  it('admits several short prompts in one step while the budget lasts', async () => {
    const { core, runner } = createCore(counting, { prefillChunkLength: 7 });
    for (const requestId of [1, 2, 3]) core.submit(submission(requestId));
    await drain(core);
    expect(runner.calls[0]!.map(row => row.tokenCount)).toEqual([3, 3, 1]);
  });

  it('cuts the chunks of prompts whose log probabilities are requested to the rows of logits of a call', async () => {
    const { core, runner } = createCore({ ...counting, slotCount: 2, logitsLimit: 5 });
    const promptTokenIds = Int32Array.from({ length: 8 }, (_, index) => index);
    core.submit(submission(1, { promptTokenIds, promptLogprobs: { topCount: 0 } }));
    core.submit(submission(2, { promptTokenIds, promptLogprobs: { topCount: 0 } }));
    const outputs = await drain(core);
    expect(runner.calls.slice(0, 3).map(rows => rows.map(row => row.tokenCount))).toEqual([[3], [3], [2, 1]]);
    expect(tokensOf(outputs, 1)).toEqual([8, 9, 10, 11]);
    expect(tokensOf(outputs, 2)).toEqual([8, 9, 10, 11]);
  });

  it('refuses more sequences than slots and queue places, and says when to try again', () => {
    const { core } = createCore({ slotCount: 2 }, { maxQueuedSequences: 1 });
    for (const requestId of [1, 2, 3]) core.submit(submission(requestId));
    const refused = catchError(() => core.submit(submission(4)));
    expect(refused.code).toBe('overloaded');
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    expect(core.stats).toMatchObject({ waitingCount: 3, freeSlotCount: 2 });
  });

  it('serves what continues a request in its place, also past a full queue', async () => {
    const { core } = createCore({ ...counting, slotCount: 1 }, { maxQueuedSequences: 2 });
    for (const requestId of [2, 3, 4]) core.submit(submission(requestId));
    for (const requestId of [5, 6]) core.submit(submission(requestId, { continues: 1 }));
    const order: number[] = [];
    for (const output of await drain(core)) {
      if (output.kind !== 'step') continue;
      for (const { requestId, finish } of output.updates) if (finish !== undefined) order.push(requestId);
    }
    expect(order).toEqual([5, 6, 2, 3, 4]);
  });

  it('serves shares by arrival after it was idle, whatever it served before', async () => {
    const { core } = createCore({ slotCount: 1 });
    core.submit(submission(1, { share: 'a' }));
    await drain(core);
    core.submit(submission(2, { share: 'a' }));
    core.submit(submission(3, { share: 'b' }));
    const [first] = await core.step();
    expect(first).toMatchObject({ updates: [{ requestId: 2 }] });
    await drain(core);
  });

  it('does not let sequences whose readers are slow fill the queue', async () => {
    const { core } = createCore({ ...counting, slotCount: 1 }, { maxQueuedSequences: 1 });
    for (let requestId = 1; requestId <= 4; requestId++) {
      core.submit(submission(requestId));
      await core.step();
      core.setPaused(requestId, 0, { isPaused: true });
    }
    expect(core.stats).toMatchObject({ runningCount: 1, waitingCount: 3, preemptionCount: 3 });
    core.submit(submission(5));
    core.submit(submission(6));
    expect(catchError(() => core.submit(submission(7))).code).toBe('overloaded');
    for (let requestId = 1; requestId <= 4; requestId++) core.setPaused(requestId, 0, { isPaused: false });
    const outputs = await drain(core);
    for (let requestId = 1; requestId <= 4; requestId++)
      expect(tokensOf(outputs, requestId)).toEqual([5, 6, 7]);
    expect(tokensOf(outputs, 6)).toEqual([4, 5, 6, 7]);
  });

  it('says to a refused caller when a running answer will probably have ended', async () => {
    let nowMs = 0;
    const { core } = createCore(
      { ...counting, slotCount: 1, contextLength: 200 },
      { maxQueuedSequences: 0, now: () => (nowMs += 250) },
    );
    core.submit(submission(1, { maxTokens: 100 }));
    await core.step();
    // 99 steps of a quarter of a second are left.
    expect(catchError(() => core.submit(submission(2))).retryAfterMs).toBe(99 * 250);
  });

  it('refuses what can never run, with the reason', () => {
    const { core } = createCore({ contextLength: 8, slotCount: 2 }, { maxQueuedSequences: 1 });
    expect(catchError(() => core.submit(submission(1, { maxTokens: 6 }))).code).toBe('prompt_too_long');
    expect(catchError(() => core.submit(submission(1, { choiceCount: 4 }))).parameter).toBe('choiceCount');
    for (const promptTokenIds of [new Int32Array(0), Int32Array.of(64), Int32Array.of(-1)]) {
      expect(catchError(() => core.submit(submission(1, { promptTokenIds }))).parameter).toBe('prompt');
    }
    expect(core.hasWork).toBe(false);
  });

  it('ends an aborted choice with reason abort and lets the others go on', async () => {
    const { core } = createCore(counting);
    core.submit(submission(1, { choiceCount: 2, maxTokens: 6 }));
    await core.step();
    await core.step();
    core.abort(1, 0);
    core.abort(1, 0);
    const outputs = await drain(core);
    expect(updatesOf(outputs, 1, 0)).toEqual([
      {
        requestId: 1,
        choiceIndex: 0,
        tokenIds: [],
        finish: { reason: 'abort', stopTokenId: null },
      },
    ]);
    expect(tokensOf(outputs, 1, 1)).toHaveLength(5);
    core.abort(1);
    expect(core.hasWork).toBe(false);
  });

  it('drops the tokens of a request that is aborted while its step runs', async () => {
    const { core } = createCore({ ...counting, delayMs: 1 });
    core.submit(submission(1));
    core.submit(submission(2));
    const running = core.step();
    core.abort(1);
    const outputs = [...(await running), ...(await drain(core))];
    expect(updatesOf(outputs, 1)).toMatchObject([{ tokenIds: [], finish: { reason: 'abort' } }]);
    expect(tokensOf(outputs, 2)).toEqual([4, 5, 6, 7]);
  });

  it('ends an aborted request that was still waiting', async () => {
    const { core } = createCore({ ...counting, slotCount: 1 });
    core.submit(submission(1));
    core.submit(submission(2));
    await core.step();
    core.abort(2);
    const outputs = await drain(core);
    expect(updatesOf(outputs, 2)).toMatchObject([{ finish: { reason: 'abort' } }]);
    expect(core.stats.waitingCount).toBe(0);
  });

  it('fails the requests of a step that keeps failing and goes on with the others', async () => {
    const { core } = createCore({ ...counting, slotCount: 1, failsAt: call => call < 3 });
    core.submit(submission(1));
    core.submit(submission(2));
    const outputs = await drain(core);
    expect(outputs.filter(output => output.kind === 'request-failed')).toEqual([
      {
        kind: 'request-failed',
        requestId: 1,
        code: 'engine_failed',
        message: 'The model call failed 3 times: Scripted failure of call 2.',
      },
    ]);
    expect(tokensOf(outputs, 2)).toEqual([4, 5, 6, 7]);
    expect(outputs.some(output => output.kind === 'fatal')).toBe(false);
  });

  it('declares the model broken when step after step is given up', async () => {
    const { core } = createCore({ slotCount: 1, failsAt: () => true }, { fatalFailureLimit: 2 });
    core.submit(submission(1));
    core.submit(submission(2));
    const outputs = await drain(core);
    const failures = outputs.filter(output => output.kind !== 'step');
    expect(failures.map(output => output.kind)).toEqual(['request-failed', 'request-failed', 'fatal']);
  });

  it('fails only the request whose logits are not numbers, at once, and goes on with the others', async () => {
    const logitsFault = (history: readonly number[]): boolean => history[0] === 9 && history.length > 3;
    const { core } = createCore({ ...counting, logitsFault });
    core.submit(submission(1));
    core.submit(submission(2, { promptTokenIds: Int32Array.of(9, 2, 3), choiceCount: 2 }));
    core.submit(submission(3));
    const outputs = await drain(core);
    const failed = outputs.filter(output => output.kind === 'request-failed');
    expect(failed).toMatchObject([{ requestId: 2, code: 'engine_failed' }]);
    expect(tokensOf(outputs, 1)).toEqual([4, 5, 6, 7]);
    expect(tokensOf(outputs, 3)).toEqual([4, 5, 6, 7]);
    expect(tokensOf(outputs, 2)).toEqual([4]);
  });

  it('takes fewer model calls for text that repeats itself, and counts drafted and accepted tokens', async () => {
    const looping = { nextToken: (history: readonly number[]) => (history.at(-1)! + 1) % 7 };
    const plain = createCore(looping, { drafter: null });
    const guessing = createCore(looping);
    for (const { core } of [plain, guessing]) core.submit(submission(1, { maxTokens: 100 }));
    const expected = tokensOf(await drain(plain.core), 1);
    expect(tokensOf(await drain(guessing.core), 1)).toEqual(expected);
    expect(plain.runner.calls).toHaveLength(100);
    expect(guessing.runner.calls.length).toBeLessThan(40);
    const { draftedTokenCount, acceptedTokenCount } = guessing.core.stats;
    expect(draftedTokenCount).toBe(100 - guessing.runner.calls.length);
    expect(acceptedTokenCount).toBe(draftedTokenCount);
    expect(plain.core.stats).toMatchObject({ draftedTokenCount: 0, acceptedTokenCount: 0 });
  });

  it('drafts nothing for text that does not repeat itself', async () => {
    const { core, runner } = createCore({ vocabSize: 1000 });
    core.submit(submission(1, { maxTokens: 100 }));
    await drain(core);
    expect(runner.calls).toHaveLength(100);
    expect(core.stats.draftedTokenCount).toBe(0);
  });

  it('keeps nothing of a wrong draft for later requests, though its keys and values were computed', async () => {
    const loop = (length: number): number => 10 + (length % 5);
    const nextToken = ({ length }: readonly number[]): number => (length === 40 ? 50 : loop(length));
    const { core, runner } = createCore({ nextToken }, { cacheBlockLength: 1 });
    core.submit(submission(1, { maxTokens: 60, stopTokenIds: [50] }));
    const said = tokensOf(await drain(core), 1);
    expect(said).toHaveLength(38);
    const { draftedTokenCount, acceptedTokenCount } = core.stats;
    expect(draftedTokenCount).toBeGreaterThan(acceptedTokenCount);
    const drafted = Array.from({ length: 8 }, (_, i) => loop(40 + i));
    const promptTokenIds = Int32Array.from([1, 2, 3, ...said.slice(0, 37), ...drafted]);
    core.submit(submission(2, { promptTokenIds, maxTokens: 1 }));
    await drain(core);
    expect(runner.calls.at(-1)).toMatchObject([{ computedLength: 40, tokenCount: 8 }]);
  });

  // Caches of 12 positions and a window of 4: a chunk that was written, but not counted, has taken the place of earlier positions.
  it.each([
    [8, 0],
    [9, 9],
  ])(
    'of %d tokens before a chunk whose request was aborted meanwhile, finds %d in caches of a window',
    async (shared, hit) => {
      const rings = { window: 4, capacity: 12, pieceLength: 1, pieceCount: 0 };
      const model = { slotCount: 1, rings };
      const { core, runner } = createCore(model, { prefillChunkLength: 9, cacheBlockLength: 1 });
      const first = Int32Array.from({ length: 30 }, (_, index) => index);
      core.submit(submission(1, { promptTokenIds: first }));
      await core.step();
      const step = core.step();
      core.abort(1);
      await step;
      core.submit(submission(2, { promptTokenIds: Int32Array.from([...first.slice(0, shared), 60, 61]) }));
      const outputs = await drain(core);
      expect(updatesOf(outputs, 2).at(-1)?.finish).toMatchObject({ reason: 'length' });
      expect(runner.calls[2]).toMatchObject([{ computedLength: hit }]);
    },
  );

  it('no longer counts failed requests as running', async () => {
    const { core } = createCore({ slotCount: 2, failsAt: () => true });
    core.submit(submission(1));
    const steps = (await drain(core)).filter(output => output.kind === 'step');
    expect(steps.at(-1)?.stats).toMatchObject({ runningCount: 0, waitingCount: 0, freeSlotCount: 2 });
  });

  it('closes the model and refuses work afterwards', async () => {
    const { core, runner } = createCore();
    await core.close();
    expect(runner.isClosed).toBe(true);
    expect(catchError(() => core.submit(submission(1))).code).toBe('engine_closed');
    await expect(core.step()).rejects.toMatchObject({ code: 'engine_closed' });
  });
});

function catchError(action: () => void): EngineError {
  try {
    action();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}
