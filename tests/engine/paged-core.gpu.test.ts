// The token side over the paged runner, with the demo model: prompts and answers of transformers, in batches, with blocks
// that are shared, copied, given up and computed again. A trained model is sure enough of most tokens that float16 changes
// no greedy answer here.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type CoreOptions,
  type EngineCore,
  loadCore,
  NEUTRAL_SAMPLING,
  type SubmitMessage,
  type TuningOptions,
} from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DEMO_DIR = fileURLToPath(new URL('../../models/demo', import.meta.url));
const CONTEXT_LENGTH = 192;

interface GoldenCase {
  readonly prompt_token_ids: readonly number[];
  readonly greedy_token_ids: readonly number[];
}

const golden = JSON.parse(await readFile(join(DEMO_DIR, 'evaluation', 'golden.json'), 'utf8')) as {
  readonly cases: readonly GoldenCase[];
};
/** Every third one: a driver in software is slow. */
const CASES = golden.cases
  .filter((_, index) => index % 3 === 0)
  .filter(one => one.prompt_token_ids.length + one.greedy_token_ids.length <= CONTEXT_LENGTH);

const why = await whyNoWebGpu();
if (why !== undefined) console.warn(`Tests of the paged core are left out: ${why}`);

function submission(requestId: number, one: GoldenCase, changes: Partial<SubmitMessage> = {}): SubmitMessage {
  return {
    kind: 'submit',
    requestId,
    promptTokenIds: Int32Array.from(one.prompt_token_ids),
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, temperature: 0, seed: 1n },
    maxTokens: one.greedy_token_ids.length,
    minTokens: 0,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
    ...changes,
  };
}

interface Answers {
  /** By request and choice. */
  readonly tokenIds: ReadonlyMap<string, readonly number[]>;
  readonly cachedTokenCount: number;
}

/** Submits everything, some steps apart, and runs until all have ended; the bookkeeping must hold after each step. */
async function play(core: EngineCore, messages: readonly SubmitMessage[], stepsApart = 0): Promise<Answers> {
  const tokenIds = new Map<string, number[]>();
  let cachedTokenCount = 0;
  const waiting = [...messages];
  for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
    if (stepsApart === 0) for (const message of waiting.splice(0)) core.submit(message);
    else if (step % stepsApart === 0 && waiting.length > 0) core.submit(waiting.shift()!);
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`Unexpected ${output.kind}.`);
      for (const update of output.updates) {
        const key = `${update.requestId}/${update.choiceIndex}`;
        tokenIds.set(key, [...(tokenIds.get(key) ?? []), ...update.tokenIds]);
      }
      for (const prefilled of output.prefilled) cachedTokenCount += prefilled.cachedTokenCount;
    }
    expect(core.findViolations()).toEqual([]);
    if (step > 10_000) throw new Error('The schedule does not end.');
  }
  return { tokenIds, cachedTokenCount };
}

describe.skipIf(why !== undefined)('the token side over blocks on a device', () => {
  let root: string;
  let modelDir: string;
  let core: EngineCore;
  const load = (tuning: TuningOptions = {}, changes: Partial<CoreOptions> = {}): Promise<EngineCore> =>
    loadCore({
      modelDir,
      device: 'webgpu',
      threadCount: 1,
      maxSequences: 6,
      contextLength: CONTEXT_LENGTH,
      ...changes,
      tuning: {
        backend: 'native',
        prefillChunkLength: 64,
        mixedChunkLength: 24,
        maxQueuedSequences: 100,
        ...tuning,
      },
    });

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-paged-'));
    modelDir = join(root, 'model');
    await buildModel({ sourceDir: DEMO_DIR, outputDir: modelDir, variant: 'paged', precision: 'f16' });
    core = await load();
  });

  afterAll(async () => {
    await core?.close();
    await rm(root, { recursive: true, force: true });
  });

  function expectGolden({ tokenIds }: Answers, cases: readonly GoldenCase[] = CASES): void {
    for (const [index, { greedy_token_ids }] of cases.entries())
      expect(tokenIds.get(`${index}/0`)?.slice(0, greedy_token_ids.length), `case ${index}`).toEqual(
        greedy_token_ids,
      );
  }

  it('says what runs where', () => {
    expect(core.facts).toMatchObject({ runner: 'paged', device: 'webgpu', backend: 'native' });
  });

  it('gives the greedy answers of transformers while prompts and answers share calls', async () => {
    expect(CASES).toHaveLength(7);
    expectGolden(
      await play(
        core,
        CASES.map((one, index) => submission(index, one)),
        2,
      ),
    );
  });

  it('gives the same answers where prompts are in the cache', async () => {
    const answers = await play(
      core,
      CASES.map((one, index) => submission(index, one)),
    );
    expect(answers.cachedTokenCount).toBeGreaterThan(50);
    expectGolden(answers);
  });

  it('gives every choice of a request what it gives alone', async () => {
    const sampling = { ...NEUTRAL_SAMPLING, temperature: 0.6, topP: 0.9, seed: 7n };
    const one = CASES[3]!;
    const forked = await play(core, [submission(0, one, { sampling, choiceCount: 4, maxTokens: 12 })]);
    for (let choice = 0; choice < 4; choice++) {
      const alone = { sampling: { ...sampling, seed: 7n + BigInt(choice) }, maxTokens: 12 };
      const { tokenIds } = await play(core, [
        submission(0, one, { ...alone, cachePartition: `alone ${choice}` }),
      ]);
      expect(tokenIds.get('0/0'), `choice ${choice}`).toEqual(forked.tokenIds.get(`0/${choice}`));
    }
  });

  it('gives the same answers with drafts as without, each beside the others', async () => {
    const plain = await load({ speculativeDecoding: 'off' });
    // Answers go on far beyond their end, where they repeat themselves.
    const messages = CASES.slice(0, 3).map((one, index) =>
      submission(index, one, {
        maxTokens: 44,
        ...(index === 2
          ? { sampling: { ...NEUTRAL_SAMPLING, temperature: 0.3, repetitionPenalty: 0.9, seed: 5n } }
          : {}),
        cachePartition: 'drafts',
      }),
    );
    const before = core.stats;
    const expected = await play(plain, messages);
    const found = await play(core, messages);
    expect(found.tokenIds).toEqual(expected.tokenIds);
    const { draftedTokenCount, acceptedTokenCount } = core.stats;
    expect(plain.stats.draftedTokenCount).toBe(0);
    expect(acceptedTokenCount).toBeGreaterThan(before.acceptedTokenCount + 10);
    expect(draftedTokenCount).toBeGreaterThanOrEqual(acceptedTokenCount);
    await plain.close();
  });

  it('gives the same answers where blocks are short and answers have to give way', async () => {
    const blockBytes = 2 * 6 * 32 * 2 * 64 * 2;
    // Seven blocks and the spare one: one whole context and little more.
    const small = await load({ cacheBytes: 8 * blockBytes }, { prefixCaching: false });
    // Longer than the golden answers, so that everybody comes to need more blocks.
    const few = CASES.slice(0, 5);
    const answers = await play(
      small,
      few.map((one, index) => submission(index, one, { maxTokens: 60 })),
    );
    expect(small.stats.preemptionCount).toBeGreaterThan(0);
    await small.close();
    expectGolden(answers, few);
  });
});
