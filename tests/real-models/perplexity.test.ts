// Perplexity of a text under builds of a GGUF file beside transformers in float32 on the dequantised weights.
// golden/make-llama-cpp.ts or make-transformers.py wrote the tokens of the text, make-transformers.py their log probabilities.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { perplexity, scoreTexts } from '@ortler/engine';
import { expect, test } from 'vitest';
import { describeWithModel, GEMMA3, readGolden, SMOLLM2, startEngine } from './real-model-engine.ts';

interface TransformersGolden {
  readonly perplexity: number;
  /** Of all tokens of each paragraph but the first, with four decimals. Unit: natural logarithm. */
  readonly logprobs: readonly (readonly number[])[];
}

const TEXT = join(import.meta.dirname, '../../apps/server/report-text.txt');
const paragraphs = readFileSync(TEXT, 'utf8')
  .trim()
  .split(/\n\s*\n/);

/** Paragraphs for the float32 build, which is slow: about a thousand log probabilities. */
const FLOAT32_COUNT = 8;

const MODELS = [
  { model: SMOLLM2, tokensFile: 'llama-cpp.json' },
  { model: GEMMA3, tokensFile: 'transformers.json' },
];

for (const { model, tokensFile } of MODELS)
  describeWithModel(model, 'a text beside transformers on the dequantised weights', () => {
    const score = async (precision: 'file' | 'f32', texts = paragraphs) => {
      await using engine = await startEngine(model, precision, { maxSequences: 1, contextLength: 512 });
      return await scoreTexts(engine, texts);
    };
    const golden = readGolden<TransformersGolden>(model, 'transformers.json');
    const { text } = readGolden<{ readonly text: readonly (readonly number[])[] }>(model, tokensFile);

    test('a float32 build has its tokens, and log probabilities within 1e-3', async () => {
      const scored = await score('f32', paragraphs.slice(0, FLOAT32_COUNT));
      expect(scored.map(({ tokenIds }) => tokenIds)).toEqual(text.slice(0, FLOAT32_COUNT));
      const differences = scored.flatMap(({ logprobs }, paragraph) =>
        logprobs.map((logprob, at) => Math.abs(logprob - golden.logprobs[paragraph]![at]!)),
      );
      expect(Math.max(...differences)).toBeLessThan(1e-3);
    });

    // Activations rounded to 8 bits and a cache in float16 are all that is left to differ.
    test('a build with the values of the file has a perplexity within 0.5 %', async () => {
      const found = perplexity(await score('file'));
      expect(Math.abs(found / golden.perplexity - 1) * 100, `perplexity ${found}`).toBeLessThan(0.5);
    });
  });
