// Steps whose logits lie on a device, and steps that several threads sample, against steps that one thread samples: the same
// requests get the same answers. The device is ONNX Runtime's CPU provider here.

import { createNativeBackend } from '@ortler/onnxruntime/testing';
import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { afterAll, describe, expect, it } from 'vitest';
import { createDeviceStepRunners } from '../../../test/device-step-runner.ts';
import type { SubmitMessage } from '../../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { hashTokens, ScriptedModel } from '../../testing/scripted-model.ts';
import { submission } from '../../testing/submission.ts';
import { EngineCore } from '../engine-core.ts';
import type { RunnerRow } from '../runners/model-runner.ts';
import { SamplingThreads } from '../sampling/threads/sampling-threads.ts';
import type { Drafter } from '../speculative-decoding/drafter.ts';
import { HostStepRunner } from './host-step-runner.ts';
import type { StepRunner } from './step-runner.ts';

const VOCAB_SIZE = 300;
const SLOT_COUNT = 4;

/** Repeats itself, so that drafts are right now and then. */
function nextToken(history: readonly number[]): number {
  return history[0]! % 3 === 0 ? hashTokens(history) % VOCAB_SIZE : 10 + ((history.at(-1)! + 1) % 3);
}

/** Drafts that the repetition goes on, up to the limit of the step: some tokens are accepted, some are not. */
const drafter: Drafter = {
  draft(decodes, { logitsRoom }) {
    let roomLeft = logitsRoom;
    return decodes.map(sequence => {
      const { group, outputTokenIds } = sequence;
      const left = group.submitted.maxTokens - outputTokenIds.length - 1;
      const length = Math.min(roomLeft, left, 1 + (outputTokenIds.length % 3));
      roomLeft -= length;
      const last = outputTokenIds.at(-1)!;
      const proposed = Int32Array.from({ length }, (_, i) => 10 + ((last + 1 + i + (i >> 1)) % 3));
      return { proposed, source: 'text', length };
    });
  },
};

const requests = fc
  .array(
    fc.record({
      promptTokenIds: fc
        .array(fc.nat({ max: VOCAB_SIZE - 1 }), { minLength: 1, maxLength: 12 })
        .map(ids => Int32Array.from(ids)),
      choiceCount: fc.constantFrom(1, 1, 2),
      temperature: fc.constantFrom(0, 0.7, 1, 2),
      topP: fc.constantFrom(1, 0.9),
      topK: fc.constantFrom(0, 0, 20),
      repetitionPenalty: fc.constantFrom(1, 1.3),
      presencePenalty: fc.constantFrom(0, 0.5),
      seed: fc.bigInt({ min: 0n, max: 1000n }),
      topLogprobCount: fc.constantFrom(null, 0, 5),
      wantsPromptLogprobs: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map(entries =>
    entries.map(({ promptTokenIds, choiceCount, topLogprobCount, wantsPromptLogprobs, ...sampling }, id) =>
      submission(id, {
        promptTokenIds,
        choiceCount,
        maxTokens: 12,
        sampling: { ...NEUTRAL_SAMPLING, ...sampling },
        ...(topLogprobCount === null ? {} : { logprobs: { topCount: topLogprobCount } }),
        ...(wantsPromptLogprobs ? { promptLogprobs: { topCount: 2 } } : {}),
      }),
    ),
  );

const LOGITS_LIMIT = SLOT_COUNT + 20;
const stepRunners = createDeviceStepRunners(createNativeBackend(), {
  vocabSize: VOCAB_SIZE,
  logitsLimit: LOGITS_LIMIT,
});
afterAll(() => stepRunners.dispose());

const threads = new SamplingThreads({ threadCount: 2, minTokenCount: 0 });
afterAll(() => threads.dispose());
const sharedLogits = new Float32Array(new SharedArrayBuffer(4 * LOGITS_LIMIT * VOCAB_SIZE));

/** With logits where all threads see them. The threads outlive the sampler. */
function createThreadedStepRunner(model: ScriptedModel): StepRunner {
  const run = async (rows: readonly RunnerRow[]) => {
    const logits = await ScriptedModel.prototype.run.call(model, rows);
    sharedLogits.set(logits);
    return sharedLogits.subarray(0, logits.length);
  };
  const runner = new HostStepRunner(Object.assign(model, { run }), threads);
  return { model, run: (plan, fillMasks) => runner.run(plan, fillMasks), close: () => model.close() };
}

function createStepRunner(model: ScriptedModel, kind: 'host' | 'threads' | 'device'): StepRunner {
  if (kind === 'host') return new HostStepRunner(model);
  return kind === 'threads' ? createThreadedStepRunner(model) : stepRunners.of(model);
}

/** Everything that each choice and prompt got. */
async function answersOf(messages: readonly SubmitMessage[], kind: 'host' | 'threads' | 'device') {
  const model = new ScriptedModel({
    vocabSize: VOCAB_SIZE,
    slotCount: SLOT_COUNT,
    nextToken,
    peak: 6,
    logitsLimit: LOGITS_LIMIT,
  });
  const core = new EngineCore(createStepRunner(model, kind), {
    maxSequences: SLOT_COUNT,
    prefillChunkLength: 8,
    maxQueuedSequences: 100,
    prefixCaching: false,
    drafter,
  });
  for (const message of messages) core.submit(message);
  const tokens = new Map<string, number[]>();
  const logprobs: TokenLogprobs[] = [];
  while (core.hasWork) {
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`The core said ${output.kind}.`);
      for (const { promptLogprobs = [] } of output.prefilled)
        for (const one of promptLogprobs) if (one !== null) logprobs.push(one);
      for (const update of output.updates) {
        const key = `${update.requestId}/${update.choiceIndex}`;
        tokens.set(key, [...(tokens.get(key) ?? []), ...update.tokenIds]);
        logprobs.push(...(update.logprobs ?? []));
      }
    }
  }
  const { acceptedTokenCount } = core.stats;
  await core.close();
  return { tokens, logprobs, acceptedTokenCount };
}

describe('HostStepRunner', () => {
  it('gives every request what it gets from one thread where several sample', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async messages => {
        expect(await answersOf(messages, 'threads')).toEqual(await answersOf(messages, 'host'));
      }),
      { numRuns: runs({ daily: 15, full: 60 }) },
    );
  }, 60_000);
});

describe('DeviceStepRunner', () => {
  it('gives every request what it gets where logits come to the process', async () => {
    let acceptedCount = 0;
    await fc.assert(
      fc.asyncProperty(requests, async messages => {
        const host = await answersOf(messages, 'host');
        const device = await answersOf(messages, 'device');
        expect(device.tokens).toEqual(host.tokens);
        expect(device.logprobs.length).toBe(host.logprobs.length);
        for (const [index, { logprob, topLogprobs, ...exact }] of device.logprobs.entries()) {
          const { logprob: expected, topLogprobs: expectedTops, ...expectedExact } = host.logprobs[index]!;
          expect(exact).toEqual(expectedExact);
          for (const [place, value] of [logprob, ...topLogprobs].entries())
            expect(value).toBeCloseTo([expected, ...expectedTops][place]!, 4);
        }
        expect(device.acceptedTokenCount).toBe(host.acceptedTokenCount);
        acceptedCount += device.acceptedTokenCount;
      }),
      { numRuns: runs({ daily: 6, full: 15 }) },
    );
    // A daily run may miss these rare events.
    if (IS_FULL_RUN) expect(acceptedCount).toBeGreaterThan(0);
  }, 60_000);

  it('fails only the request whose logits are not numbers', async () => {
    const model = new ScriptedModel({
      vocabSize: VOCAB_SIZE,
      nextToken,
      logitsFault: history => history[0] === 7,
    });
    const core = new EngineCore(stepRunners.of(model), { prefillChunkLength: 8, maxQueuedSequences: 100 });
    core.submit(submission(1, { promptTokenIds: Int32Array.of(8) }));
    core.submit(submission(2, { promptTokenIds: Int32Array.of(7) }));
    const failures: unknown[] = [];
    const ended: number[] = [];
    while (core.hasWork)
      for (const output of await core.step()) {
        if (output.kind === 'step')
          for (const { requestId, finish, failure } of output.updates) {
            if (finish !== undefined) ended.push(requestId);
            if (failure !== undefined) failures.push([requestId, failure.message]);
          }
        else failures.push([2, 'message' in output ? output.message : '']);
      }
    expect(ended).toEqual([1]);
    expect(failures).toEqual([[2, expect.stringContaining('not numbers')]]);
    await core.close();
  });
});
