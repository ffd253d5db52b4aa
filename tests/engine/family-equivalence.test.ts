// Every family that is built, in q8 or q4, through the engine and its scheduler: log probabilities are near those of transformers, and
// the same bit for bit whether a prompt is computed alone, beside others, in chunks, or taken from the prefix cache. A long search
// has both precisions; else the builder's own `family-equivalence.test.ts` has the other one.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@ortler/engine';
import { buildModel } from '@ortler/model-builder';
import { IS_LONG_RUN } from 'test-runs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  DECODER_GOLDENS,
  logitDeviation,
  writeGoldenCheckpoint,
} from '../../packages/model-builder/test/decoder-golden.ts';
import { distanceFromLogits, familyBound, PRECISIONS } from '../support/family-bounds.ts';

const ANSWER_LENGTH = 8;
/** Tokens that the last of the prompts shares with the first one. */
const SHARED_LENGTH = 29;

const folder = mkdtempSync(join(tmpdir(), 'ortler-families-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FAMILIES = DECODER_GOLDENS.map((golden, i) => ({
  ...golden,
  precisions: IS_LONG_RUN ? PRECISIONS : [PRECISIONS[(i + 1) % PRECISIONS.length]!],
}));

describe.each(FAMILIES)('$family', ({ family, cases, precisions }) => {
  const golden = cases[0]!;
  const prompt = golden.prompts.at(-1)!;
  const source = join(folder, family, 'source');
  const engines: Engine[] = [];

  beforeAll(() => writeGoldenCheckpoint(source, golden));
  afterEach(() => Promise.all(engines.splice(0).map(engine => engine.close())));

  test.each(precisions)('in %s', async precision => {
    const modelDir = join(folder, family, precision);
    await buildModel({ sourceDir: source, outputDir: modelDir, precision });
    const start = async (prefillChunkLength: number) => {
      const options = { modelDir, link: 'in-process', threadCount: 1, maxSequences: 4 } as const;
      engines.push(await createEngine({ ...options, tuning: { prefillChunkLength } }));
      return engines.at(-1)!;
    };
    const engine = await start(256);
    const { tokens } = prompt;
    const prompts = [tokens, tokens.slice(0, 7), tokens.slice(5), [...tokens.slice(0, SHARED_LENGTH), 3, 1]];

    const alone = [];
    for (const [i, own] of prompts.entries()) alone.push(await answer(engine, own, `alone ${i}`));
    expect(alone.map(({ cachedTokenCount }) => cachedTokenCount)).toEqual([0, 0, 0, 0]);
    const bound = familyBound(family, precision) * logitDeviation(prompt);
    expect(distanceFromLogits(alone[0]!.tokens[0]!, prompt.lastLogits)).toBeLessThan(bound);

    const together = await Promise.all(prompts.map((own, i) => answer(engine, own, `together ${i}`)));
    expect(together, 'beside others').toEqual(alone);

    const chunked = await answer(await start(11), tokens, '');
    expect(chunked, 'in chunks').toEqual(alone[0]);

    const hit = await answer(engine, tokens, 'alone 0');
    expect(hit.cachedTokenCount, 'hits of the whole prompt').toBeGreaterThan(0);
    expect(hit.tokens, 'a whole prompt from the cache').toEqual(alone[0]!.tokens);
    const continued = await answer(engine, prompts[3]!, 'alone 0');
    expect(continued.cachedTokenCount, 'hits of a shared beginning').toBeGreaterThan(0);
    expect(continued.tokens, 'a shared beginning from the cache').toEqual(alone[3]!.tokens);
  });
});

interface Answer {
  readonly cachedTokenCount: number;
  /** The greedy token and its 20 best candidates with their log probabilities, place by place. */
  readonly tokens: readonly (readonly (readonly [tokenId: number, logprob: number])[])[];
}

/** Prompts in different partitions do not share a cache. */
async function answer(engine: Engine, tokenIds: readonly number[], cachePartition: string): Promise<Answer> {
  let cachedTokenCount = 0;
  const tokens: (readonly (readonly [number, number])[])[] = [];
  const request = {
    prompt: { tokenIds },
    sampling: { temperature: 0 },
    stop: { maxTokens: ANSWER_LENGTH, ignoreEos: true },
    logprobs: { topCount: 20 },
    cachePartition,
  };
  for await (const event of engine.generate(request)) {
    if (event.kind === 'prompt-ready') cachedTokenCount = event.cachedTokenCount;
    if (event.kind === 'token-delta')
      for (const own of event.logprobs!)
        tokens.push([own, ...own.top].map(({ tokenId, logprob }) => [tokenId, logprob]));
  }
  expect(tokens.length).toBe(ANSWER_LENGTH);
  return { cachedTokenCount, tokens };
}
