// A build with the values of the GGUF file beside llama.cpp's server on the same file. golden/make-llama-cpp.ts wrote the golden.

import type { Engine } from '@ortler/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Answer,
  answer,
  describeWithModel,
  readGolden,
  SMOLLM2,
  startEngine,
} from './real-model-engine.ts';

interface LlamaCppGolden {
  readonly provenance: Readonly<Record<string, string>>;
  readonly answers: readonly {
    readonly content: string;
    readonly promptTokenIds: readonly number[];
    /** With the end-of-sequence token. */
    readonly tokenIds: readonly number[];
    readonly isEnded: boolean;
    /** Of the two best candidates at each token. Unit: natural logarithm. */
    readonly gaps: readonly number[];
  }[];
}

const ANSWER_LENGTH = 48;

/**
 * Both round activations to 8 bits, each in its own blocks and order, so where two tokens are close each may pick another one. Seen at
 * first differences: 0.25 at most for us, 0.34 for llama.cpp; answers have such close places every 30 tokens. Unit: natural logarithm.
 */
const LARGEST_GAP = 0.5;

/** Answers that are equal to the end. Seen: 7. */
const MIN_EQUAL = 4;

/** Tokens before the first difference, of all answers. */
const MIN_COMMON_SHARE = 0.5;

const golden = readGolden<LlamaCppGolden>(SMOLLM2, 'llama-cpp.json');

describeWithModel(SMOLLM2, 'greedy answers of the file beside llama.cpp', () => {
  let engine: Engine;
  let answers: readonly Answer[];
  beforeAll(async () => {
    engine = await startEngine(SMOLLM2, 'file', { maxSequences: 16, contextLength: 512 });
    answers = await Promise.all(
      golden.answers.map(({ promptTokenIds }) =>
        answer(engine, { tokenIds: promptTokenIds }, { maxTokens: ANSWER_LENGTH, topCount: 5 }),
      ),
    );
  });
  afterAll(() => engine.close());

  test('conversations have the tokens of llama.cpp', async () => {
    expect(golden.answers).toHaveLength(30);
    for (const { content, promptTokenIds } of golden.answers) {
      const rendered = await engine.renderChat([{ role: 'user', content }]);
      expect(await engine.encode(rendered), content).toEqual(promptTokenIds);
    }
  });

  test('an answer differs first where two tokens are nearly equal for us and for llama.cpp', () => {
    let commonCount = 0;
    let tokenCount = 0;
    const differences = golden.answers.flatMap((expected, prompt) => {
      const { tokenIds, logprobs } = answers[prompt]!;
      const position = tokenIds.findIndex((id, at) => id !== expected.tokenIds[at]);
      tokenCount += tokenIds.length;
      commonCount += position === -1 ? tokenIds.length : position;
      if (position === -1) return [];
      const { logprob, top } = logprobs[position]!;
      const theirs = top.find(({ tokenId }) => tokenId === expected.tokenIds[position]);
      const gap = logprob - (theirs?.logprob ?? Number.NEGATIVE_INFINITY);
      return [{ prompt, position, gap, gapOfLlamaCpp: expected.gaps[position]! }];
    });
    const equalCount = golden.answers.length - differences.length;
    console.info(
      `${equalCount} of ${golden.answers.length} answers equal; ${commonCount} of ${tokenCount} tokens in common.`,
    );
    for (const { prompt, position, gap, gapOfLlamaCpp } of differences)
      console.info(
        `prompt ${prompt}, token ${position}: ${gap.toFixed(3)}, of llama.cpp ${gapOfLlamaCpp.toFixed(3)}`,
      );
    expect(differences.filter(({ gap }) => gap > LARGEST_GAP)).toEqual([]);
    expect(differences.filter(({ gapOfLlamaCpp }) => gapOfLlamaCpp > LARGEST_GAP)).toEqual([]);
    expect(equalCount).toBeGreaterThanOrEqual(MIN_EQUAL);
    expect(commonCount / tokenCount).toBeGreaterThanOrEqual(MIN_COMMON_SHARE);
  });
});
