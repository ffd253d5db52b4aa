// Families with recurrent layers, mixtures of experts, and latent attention, on their real graphs: what a
// sequence says must not depend on its company, the chunks of its prompt, what is cached, drafts,
// preemptions, forks and failed calls.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CoreOptions, type EngineCore, loadCore, type TuningOptions } from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import fc from 'fast-check';
import { IS_FULL_RUN, IS_LONG_RUN, runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../../packages/model-builder/test/decoder-golden.ts';
import { createFailingCore, play, playAlone, randomRequests } from './random-schedules.ts';

const RECURRENT_FAMILIES = [
  'lfm2',
  'qwen3_5_text',
  'lfm2_moe',
  'qwen3_5_moe_text',
  'granitemoehybrid',
  'falcon_h1',
  'nemotron_h',
];
const EXPERT_FAMILIES = ['qwen3_moe', 'gpt_oss', 'mixtral', 'olmoe', 'granitemoe', 'ernie4_5_moe'];
/** One head of keys, of which all heads attend to latent rows. */
const LATENT_FAMILIES = ['deepseek_v2', 'deepseek_v3', 'glm4_moe_lite', 'minicpm3'];

const KINDS = [
  { precision: 'f32', kvType: 'float32' },
  { precision: 'q8', kvType: 'int8' },
  { precision: 'q4', kvType: 'float16' },
] as const;

const CONTEXT_LENGTH = 80;
const TOKEN_LIMIT = 90;

/** Prompts that begin alike, long enough that states are kept in them. */
const prompts = fc
  .record({
    beginning: fc.nat({ max: 1 }),
    sharedLength: fc.constantFrom(0, 5, 17, 32, 50),
    rest: fc.array(fc.nat({ max: TOKEN_LIMIT - 1 }), { minLength: 1, maxLength: 10 }),
  })
  .map(({ beginning, sharedLength, rest }) => {
    const shared = Array.from({ length: sharedLength }, (_, i) => (beginning * 37 + i * 31) % TOKEN_LIMIT);
    return Int32Array.from([...shared, ...rest]);
  });

const requests = randomRequests(prompts);

const MODELS = [...RECURRENT_FAMILIES, ...EXPERT_FAMILIES, ...LATENT_FAMILIES].flatMap((family, index) => {
  // One kind of each family. A long search has all of those with states.
  const isWhole = IS_LONG_RUN && RECURRENT_FAMILIES.includes(family);
  const kinds = isWhole ? KINDS : [KINDS[(2 * index) % KINDS.length]!];
  return kinds.map(kind => ({ family, ...kind }));
});

/** What happened in all runs; lists by core. */
const met = { preemptionCount: 0, draftedCounts: [0, 0, 0, 0, 0], hitCounts: [0, 0, 0, 0, 0] };

describe.each(MODELS)('$family in $precision with a $kvType cache', ({ family, precision, kvType }) => {
  let root: string;
  let alone: EngineCore;
  const cores: EngineCore[] = [];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-recurrent-'));
    const [source, modelDir] = [join(root, 'source'), join(root, 'model')];
    await writeGoldenCheckpoint(source, DECODER_GOLDENS.find(golden => golden.family === family)!.cases[0]!);
    await buildModel({ sourceDir: source, outputDir: modelDir, precision, variant: 'kernels', kvType });
    const load = (tuning: TuningOptions, options: Partial<CoreOptions>) =>
      loadCore({
        modelDir,
        device: 'cpu',
        threadCount: 1,
        maxSequences: 1,
        contextLength: CONTEXT_LENGTH,
        schedulingPolicy: 'priority',
        ...options,
        tuning: { backend: 'native', maxQueuedSequences: 50, ...tuning },
      });
    const plain = { schedulingPolicy: 'fcfs', prefixCaching: false } as const;
    alone = await load({ prefillChunkLength: CONTEXT_LENGTH, speculativeDecoding: 'off' }, plain);
    cores.push(
      await load({ prefillChunkLength: 7, mixedChunkLength: 3, cacheSlots: 3 }, { maxSequences: 4 }),
      await load({ prefillChunkLength: 64, cacheSlots: 0 }, { maxSequences: 2, threadCount: 2 }),
      await load({ prefillChunkLength: 5 }, { maxSequences: 3, prefixCaching: false }),
      await load({ prefillChunkLength: 9, cacheSlots: 1 }, { maxSequences: 2 }),
      await createFailingCore(modelDir, CONTEXT_LENGTH),
    );
  });

  afterAll(async () => {
    for (const core of [alone, ...cores]) await core?.close();
    await rm(root, { recursive: true, force: true });
  });

  // The states of the cores stay from run to run, so most prompts of later runs are hits.
  it('gives the same answers in any batch, with any chunks, states, drafts, pauses, preemptions and failures, as each choice alone', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async entries => {
        const expected = await playAlone(alone, entries);
        for (const core of cores) expect(await play(core, entries)).toEqual(expected);
      }),
      { numRuns: runs({ daily: 12, full: 15 }) },
    );
    for (const [index, { stats }] of cores.entries()) {
      met.preemptionCount += stats.preemptionCount;
      met.draftedCounts[index]! += stats.draftedTokenCount;
      met.hitCounts[index]! += stats.cacheHitTokenCount;
    }
  });
});

// A daily run may miss these rare events, and any run those of one family.
it.runIf(IS_FULL_RUN)('preemptions, drafts and hits have come in these runs', () => {
  expect(met.preemptionCount).toBeGreaterThan(10 * MODELS.length);
  expect(met.draftedCounts.at(-1)).toBeGreaterThan(100 * MODELS.length);
  const hits = met.hitCounts.map(count => count > 20 * MODELS.length);
  expect(hits).toEqual([true, true, false, true, true]);
});
