// Reports of a step beside its tokens: log probabilities, failures and ends, through whole steps over a scripted model.

import { describe, expect, it } from 'vitest';
import { EngineError } from '../../errors.ts';
import type { PrefilledRequest, SubmitMessage } from '../../protocol/messages.ts';
import { readTokenLogprobs } from '../../testing/read-token-logprobs.ts';
import { ScriptedModel, type ScriptedModelOptions, scriptedLogits } from '../../testing/scripted-model.ts';
import { GREEDY, submission } from '../../testing/submission.ts';
import type { SequenceConstraint } from '../answer-constraint/sequence-constraint.ts';
import { type CoreOutput, EngineCore } from '../engine-core.ts';
import type { PlannedRow } from '../scheduler/step-plan.ts';
import { createSequenceGroup, Sequence } from '../sequence.ts';
import { commitStep } from './commit-step.ts';
import { HostStepRunner } from './host-step-runner.ts';

const VOCAB_SIZE = 64;

async function run(
  submissions: readonly SubmitMessage[],
  model: ScriptedModelOptions = {},
  prefillChunkLength = 16,
): Promise<CoreOutput[]> {
  const core = new EngineCore(new HostStepRunner(new ScriptedModel({ vocabSize: VOCAB_SIZE, ...model })), {
    prefillChunkLength,
    maxQueuedSequences: 16,
  });
  for (const message of submissions) core.submit(message);
  const outputs: CoreOutput[] = [];
  while (core.hasWork) outputs.push(...(await core.step()));
  return outputs;
}

const updatesOf = (outputs: readonly CoreOutput[], requestId: number) =>
  outputs
    .flatMap(output => (output.kind === 'step' ? output.updates : []))
    .filter(update => update.requestId === requestId);

const prefilledOf = (outputs: readonly CoreOutput[]): PrefilledRequest[] =>
  outputs.flatMap(output => (output.kind === 'step' ? output.prefilled : []));

describe('a committed step', () => {
  it('gives log probabilities of generated tokens to the requests that ask for them, and only to those', async () => {
    const outputs = await run([submission(1, { logprobs: { topCount: 3 } }), submission(2)]);
    const history = [1, 2, 3];
    for (const { tokenIds, logprobs } of updatesOf(outputs, 1)) {
      expect(logprobs).toEqual([readTokenLogprobs(scriptedLogits(history, VOCAB_SIZE), tokenIds[0]!, 3)]);
      history.push(...tokenIds);
    }
    expect(history).toHaveLength(7);
    expect(updatesOf(outputs, 2).some(update => 'logprobs' in update)).toBe(false);
  });

  it('gives log probabilities of the prompt, null first, however it is cut into chunks and shared', async () => {
    const promptTokenIds = Int32Array.from({ length: 11 }, (_, index) => (index * 7) % VOCAB_SIZE);
    const expected = Array.from(promptTokenIds, (tokenId, position) =>
      position === 0
        ? null
        : readTokenLogprobs(
            scriptedLogits([...promptTokenIds.subarray(0, position)], VOCAB_SIZE),
            tokenId,
            2,
          ),
    );
    for (const prefillChunkLength of [1, 3, 11, 16]) {
      const asking = submission(1, { promptTokenIds, choiceCount: 2, promptLogprobs: { topCount: 2 } });
      const prefilled = prefilledOf(
        await run([asking, submission(2, { promptTokenIds })], {}, prefillChunkLength),
      );
      expect(prefilled.filter(({ requestId }) => requestId === 1)).toMatchObject([
        { promptLogprobs: expected },
      ]);
      expect(prefilled.some(({ requestId, promptLogprobs }) => requestId === 2 && promptLogprobs)).toBe(
        false,
      );
    }
  });

  it('gives log probabilities of a prompt of one token: null', async () => {
    const message = submission(1, { promptTokenIds: Int32Array.of(5), promptLogprobs: { topCount: 0 } });
    expect(prefilledOf(await run([message]))).toMatchObject([{ promptLogprobs: [null] }]);
  });

  it('gives the same log probabilities of the prompt when a step failed and was tried again', async () => {
    const message = submission(1, {
      promptTokenIds: Int32Array.of(5, 9, 4, 7),
      promptLogprobs: { topCount: 1 },
    });
    const [expected] = prefilledOf(await run([message]));
    const [found] = prefilledOf(await run([message], { failsAt: call => call === 1 || call === 2 }, 2));
    expect(found?.promptLogprobs).toEqual(expected?.promptLogprobs);
  });

  it('reports all tokens of a step with a right draft, each with its own log probabilities', async () => {
    const looping = { nextToken: (history: readonly number[]) => (history.at(-1)! + 1) % 5 };
    const outputs = await run([submission(1, { maxTokens: 60, logprobs: { topCount: 2 } })], looping);
    const updates = updatesOf(outputs, 1);
    expect(Math.max(...updates.map(({ tokenIds }) => tokenIds.length))).toBeGreaterThan(4);
    const history = [1, 2, 3];
    for (const { tokenIds, logprobs } of updates) {
      expect(logprobs).toHaveLength(tokenIds.length);
      for (const [index, tokenId] of tokenIds.entries()) {
        const logits = scriptedLogits(history, VOCAB_SIZE, looping);
        expect(logprobs![index]).toEqual(readTokenLogprobs(logits, tokenId, 2));
        history.push(tokenId);
      }
    }
    expect(history).toEqual([1, 2, 3, ...Array.from({ length: 60 }, (_, i) => (i + 4) % 5)]);
  });

  it('ends within a draft where the output repeats itself', async () => {
    const repetitionDetection = { minPatternSize: 5, maxPatternSize: 5, minCount: 6 };
    const outputs = await run([submission(1, { maxTokens: 60, repetitionDetection })], {
      nextToken: history => (history.at(-1)! + 1) % 5,
    });
    const updates = updatesOf(outputs, 1);
    expect(updates.length).toBeLessThan(20);
    expect(updates.flatMap(update => update.tokenIds)).toHaveLength(30);
    expect(updates.at(-1)?.finish).toEqual({ reason: 'repetition', stopTokenId: null });
  });

  it('gives the tokens before a fault in a drafted row, and then fails the request', async () => {
    const looping = {
      nextToken: (history: readonly number[]) => (history.at(-1)! + 1) % 5,
      logitsFault: (history: readonly number[]) => history.length === 40,
    };
    const outputs = await run([submission(1, { maxTokens: 60 })], looping);
    expect(updatesOf(outputs, 1).length).toBeLessThan(25);
    expect(updatesOf(outputs, 1).flatMap(update => update.tokenIds)).toHaveLength(37);
    expect(outputs.find(output => output.kind === 'request-failed')).toMatchObject({ code: 'engine_failed' });
  });

  it('reports the tokens of a step before the one at which the constraint of a choice failed', () => {
    const constraint = {
      accept(tokenId: number) {
        if (tokenId === 7) throw new EngineError('constraint_failed', 'Too large.');
        return 'open';
      },
    } as unknown as SequenceConstraint;
    const sequence = new Sequence(createSequenceGroup(submission(1), 0), 0, constraint);
    const row: PlannedRow = {
      sequence,
      slot: 0,
      blocks: new Int32Array(0),
      tokenIds: Int32Array.of(3, 5, 6),
      computedLength: 2,
      logitsCount: 3,
      drawsToken: true,
      draftLength: 2,
      draft: null,
    };
    const sampled = { tokens: [{ tokenId: 5 }, { tokenId: 6 }, { tokenId: 7 }], promptLogprobs: [] };
    const { updates, ended } = commitStep({ rows: [row] }, [sampled], new Set(), 0);
    expect(updates).toMatchObject([{ tokenIds: [5, 6], failure: { code: 'constraint_failed' } }]);
    expect(ended).toEqual([sequence]);
  });

  it('fails a request whose own rules leave no token, and no other', async () => {
    const sampling = { ...GREEDY, allowedTokenIds: [9] };
    const outputs = await run([submission(1, { sampling, badTokenSequences: [[9, 9]] }), submission(2)]);
    expect(outputs.find(output => output.kind === 'request-failed')).toMatchObject({
      requestId: 1,
      code: 'invalid_request',
      parameter: 'sampling.allowedTokenIds',
    });
    expect(updatesOf(outputs, 1).map(update => update.tokenIds)).toEqual([[9]]);
    expect(updatesOf(outputs, 2)).toHaveLength(4);
  });

  it('ends an output that repeats itself, the repeated tokens included', async () => {
    const repetitionDetection = { minPatternSize: 2, maxPatternSize: 2, minCount: 3 };
    const outputs = await run([submission(1, { maxTokens: 20, repetitionDetection })], {
      nextToken: history => (history.at(-1)! + 1) % 2,
    });
    const updates = updatesOf(outputs, 1);
    expect(updates.flatMap(update => update.tokenIds)).toEqual([0, 1, 0, 1, 0, 1]);
    expect(updates.at(-1)?.finish).toEqual({ reason: 'repetition', stopTokenId: null });
  });
});
