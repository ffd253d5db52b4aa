// Perplexity of a text under builds of a GGUF file beside transformers in float32 on the dequantised weights.
// golden/make-llama-cpp.ts wrote the tokens of the text, golden/make-transformers.py their log probabilities.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { perplexity, type ScoredText, scoreTexts } from '@ortler/engine';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeWithModel, readGolden, startEngine } from './real-model-engine.ts';

interface TransformersGolden {
  readonly perplexity: number;
  /** Of each paragraph. */
  readonly logprobSums: readonly number[];
}

const golden = readGolden<TransformersGolden>('transformers.json');
const { text: goldenTokens } = readGolden<{ readonly text: readonly (readonly number[])[] }>(
  'llama-cpp.json',
);

const TEXT = join(import.meta.dirname, '../../apps/server/report-text.txt');
const paragraphs = readFileSync(TEXT, 'utf8')
  .trim()
  .split(/\n\s*\n/);

describeWithModel('perplexity beside transformers on the dequantised weights', () => {
  describe.each([
    // Activations rounded to 8 bits and a cache in float16 are all that is left to differ.
    { precision: 'file', percent: 0.5 },
    { precision: 'f32', percent: 0.01 },
  ] as const)('$precision', ({ precision, percent }) => {
    let scored: readonly ScoredText[];
    beforeAll(async () => {
      await using engine = await startEngine(precision, { maxSequences: 1, contextLength: 512 });
      scored = await scoreTexts(engine, paragraphs);
    });

    test('the text has the tokens of llama.cpp', () => {
      expect(scored.map(({ tokenIds }) => tokenIds)).toEqual(goldenTokens);
    });

    test(`the perplexity is within ${percent} %`, () => {
      const found = perplexity(scored);
      expect(Math.abs(found / golden.perplexity - 1) * 100, `perplexity ${found}`).toBeLessThan(percent);
    });
  });
});
