// Steps with drafts whose logits lie on a device, under constraints: the answers are those of one token after the other.

import { createNativeBackend } from '@ortler/onnxruntime/testing';
import {
  LETTER_COLUMN_COUNT,
  LETTER_ENDS,
  letterId,
  letterText,
  letterVocabulary,
} from '@ortler/structured-output/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { createDeviceStepRunners } from '../../../test/device-step-runner.ts';
import type { SubmitMessage } from '../../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../../request/sampling-params.ts';
import { ScriptedModel } from '../../testing/scripted-model.ts';
import { submission } from '../../testing/submission.ts';
import { EngineCore } from '../engine-core.ts';
import { DEVICE_DRAFTS } from '../speculative-decoding/device-draft-policy.ts';
import { PromptLookupDrafter } from '../speculative-decoding/prompt-lookup-drafter.ts';
import { HostStepRunner } from './host-step-runner.ts';

const MODEL = { vocabSize: LETTER_COLUMN_COUNT, slotCount: 4, logitsLimit: 44 } as const;
const stepRunners = createDeviceStepRunners(createNativeBackend(), MODEL);
afterAll(() => stepRunners.dispose());

const TEXT = 'abcdefgh{"abcdcd';
const TOKENS = ['abc', 'd', 'e', 'f', 'g', 'h', '{"', 'abc', 'd', 'cd'].map(letterId);

function request(requestId: number, changes: Partial<SubmitMessage> = {}): SubmitMessage {
  return submission(requestId, {
    promptTokenIds: Int32Array.of(5, 6, 7),
    sampling: { ...NEUTRAL_SAMPLING, temperature: 1.5, seed: BigInt(requestId) },
    maxTokens: 30,
    eosTokenIds: [LETTER_ENDS[0]],
    stopTokenIds: [LETTER_ENDS[1]],
    ...changes,
  });
}

/** Text with one free letter at its end. */
const onlyText = { grammar: { kind: 'regex', text: `${TEXT.replace('{', '\\{')}[ab]` } } as const;
const free = { grammar: { kind: 'regex', text: '(ab|cd|abc)+' } } as const;

/** Tokens by request, and how many model calls they took. */
async function play(kind: 'device' | 'host', messages: readonly SubmitMessage[]) {
  const runner = new ScriptedModel({
    ...MODEL,
    peak: 100,
    nextToken: history => TOKENS[history.length - 3] ?? LETTER_ENDS[0],
  });
  const stepRunner = kind === 'device' ? stepRunners.of(runner) : new HostStepRunner(runner);
  const core = new EngineCore(stepRunner, {
    prefillChunkLength: 16,
    maxQueuedSequences: 64,
    drafter: kind === 'device' ? new PromptLookupDrafter(DEVICE_DRAFTS) : null,
  });
  core.setVocabulary(letterVocabulary);
  for (const message of messages) core.submit(message);
  const tokens = new Map<number, number[]>();
  while (core.hasWork)
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`The core said ${output.kind}.`);
      for (const { requestId, tokenIds } of output.updates)
        tokens.set(requestId, [...(tokens.get(requestId) ?? []), ...tokenIds]);
    }
  await core.close();
  return { tokens, callCount: runner.calls.length, stats: core.stats };
}

describe('sampleDeviceStep', () => {
  it('computes the only text of a constraint in few model calls, with the result of a run without drafts', async () => {
    const messages = [request(1, { constraint: onlyText })];
    const expected = await play('host', messages);
    const found = await play('device', messages);
    expect(found.tokens).toEqual(expected.tokens);
    expect(letterText(found.tokens.get(1)!)).toMatch(/^abcdefgh\{"abcdcd[ab]$/);
    expect(found.callCount).toBeLessThan(expected.callCount / 2);
    expect(found.stats.acceptedTokenCount).toBeGreaterThan(5);
  });

  it('gives every sequence of a step what it gives alone, those with drafts and those without', async () => {
    const messages = [
      request(1, { constraint: onlyText }),
      request(2, { constraint: free }),
      request(3, {
        sampling: { ...NEUTRAL_SAMPLING, temperature: 0.5, repetitionPenalty: 1.2, seed: 9n },
      }),
      request(4, { constraint: onlyText, logprobs: { topCount: 2 } }),
    ];
    const found = await play('device', messages);
    for (const message of messages) {
      const alone = await play('host', [message]);
      expect(found.tokens.get(message.requestId)).toEqual(alone.tokens.get(message.requestId));
    }
    expect(found.stats.draftedTokenCount).toBeGreaterThan(0);
  });
});
