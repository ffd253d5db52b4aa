// Families whose layers see a window of the last tokens, with caches of the size of that window: whatever the scheduler does, a
// sequence that passes its window many times says the same, bit for bit, as alone over caches of the whole context.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSlotsRunner,
  EngineCore,
  type EngineCoreSettings,
  HostStepRunner,
  NEUTRAL_SAMPLING,
  readManifest,
  type SlotModelRunner,
  type SlotsRunnerOptions,
  type SubmitMessage,
} from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { selectBackend } from '@ortler/onnxruntime';
import fc from 'fast-check';
import { IS_FULL_RUN, IS_LONG_RUN, runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DECODER_GOLDENS,
  type GoldenCase,
  writeGoldenCheckpoint,
} from '../../packages/model-builder/test/decoder-golden.ts';
import { RECKLESS_DRAFTER } from './random-requests.ts';

const CONTEXT_LENGTH = 640;
const CHUNK_LENGTH = 37;
/** One piece of keys: the least that a ring can have. */
const RING_LENGTH = 256;

const KINDS = [
  { precision: 'f32', kvType: 'float32' },
  { precision: 'q8', kvType: 'int8' },
  { precision: 'q4', kvType: 'float16' },
] as const;

type TextConfig = Readonly<Record<string, unknown>>;

/** A case of each family that has windows, if possible one whose last layers read the caches of others. */
const FAMILIES = DECODER_GOLDENS.flatMap(({ family, cases }) => {
  const windowed = cases.filter(golden => textConfig(golden).sliding_window);
  const sharing = windowed.find(golden => textConfig(golden).num_kv_shared_layers);
  const golden = sharing ?? windowed[0];
  return golden === undefined ? [] : [{ family, golden, isSharing: sharing !== undefined }];
});

function textConfig({ config }: GoldenCase): TextConfig {
  return (config.text_config ?? config) as TextConfig;
}

/** The case with positions for longer sequences. */
function lengthened(golden: GoldenCase): GoldenCase {
  const text = { ...textConfig(golden), max_position_embeddings: CONTEXT_LENGTH };
  const config = 'text_config' in golden.config ? { ...golden.config, text_config: text } : text;
  return { ...golden, config };
}

/** Tokens of a text of its own for each seed. */
function text(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => (i * i * 7 + i * 13 + seed * 29) % 90);
}

interface Entry {
  readonly atStep: number;
  readonly prompt: readonly number[];
  readonly maxTokens?: number;
  readonly choiceCount?: number;
  readonly temperature?: number;
  readonly priority?: number;
}

const LONG = text(420, 1);

/** Long and short prompts side by side, one of several choices, and urgent ones, for which others are preempted. */
const FIRST: readonly Entry[] = [
  { atStep: 0, prompt: LONG, maxTokens: 60, priority: 1 },
  { atStep: 0, prompt: text(30, 2), maxTokens: 300, priority: 2 },
  { atStep: 14, prompt: text(310, 3), choiceCount: 3, temperature: 0.9, maxTokens: 30 },
  { atStep: 30, prompt: text(8, 4), maxTokens: 20, priority: -1 },
  { atStep: 34, prompt: [...text(300, 3), ...text(9, 5)], maxTokens: 12, priority: -1 },
];

/** Continues what is cached: at its end, shortly before it, and where layers with a window have lost it. */
function second(firstAnswer: readonly number[]): readonly Entry[] {
  return [
    { atStep: 0, prompt: [...LONG, ...firstAnswer, ...text(40, 6)], maxTokens: 20 },
    { atStep: 0, prompt: [...LONG.slice(0, 400), ...text(20, 7)], maxTokens: 20, temperature: 0.9 },
    { atStep: 2, prompt: [...LONG.slice(0, 60), ...text(350, 8)], maxTokens: 10, priority: -1 },
    { atStep: 20, prompt: LONG, maxTokens: 15, priority: -1 },
  ];
}

/** Around the window of 12, the ends of blocks and pieces, and where the ring begins. */
const PREFIX_LENGTHS = [16, 17, 63, 64, 75, 128, 190, 244, 255, 256, 300, 499];

/** Of two texts, each prompt shares a beginning of any length, up to many windows, with others. */
const randomSchedules: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.record({
      atStep: fc.nat({ max: 60 }),
      seed: fc.constantFrom(21, 22),
      sharedLength: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 520 })),
      rest: fc.array(fc.nat({ max: 89 }), { minLength: 1, maxLength: 12 }),
      maxTokens: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 60, max: 100 })),
      choiceCount: fc.constantFrom(1, 1, 1, 2),
      temperature: fc.constantFrom(0, 0.9),
      priority: fc.integer({ min: 0, max: 2 }),
    }),
    { minLength: 2, maxLength: 5 },
  )
  .map(entries =>
    entries
      .map(({ seed, sharedLength, rest, ...entry }) => ({
        ...entry,
        prompt: [...text(sharedLength, seed), ...rest],
      }))
      .sort((a, b) => a.atStep - b.atStep),
  );

function toRequest({
  prompt,
  maxTokens = 16,
  choiceCount = 1,
  temperature = 0,
  priority = 0,
}: Entry): Omit<SubmitMessage, 'requestId'> {
  return {
    kind: 'submit',
    promptTokenIds: Int32Array.from(prompt),
    choiceCount,
    sampling: { ...NEUTRAL_SAMPLING, temperature, seed: BigInt(prompt.length) },
    maxTokens,
    minTokens: maxTokens,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
    priority,
    logprobs: { topCount: 2 },
  };
}

interface Answer {
  readonly tokenIds: number[];
  readonly logprobs: unknown[];
}

/** By request and choice. */
async function play(core: EngineCore, entries: readonly Entry[]): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const waiting = entries.map((entry, requestId) => ({
    ...toRequest(entry),
    requestId,
    atStep: entry.atStep,
  }));
  for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
    while (waiting.length > 0 && waiting[0]!.atStep <= step) {
      const { atStep, ...request } = waiting.shift()!;
      core.submit(request);
    }
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`${output.kind}: ${output.message}`);
      for (const { requestId, choiceIndex, tokenIds, logprobs = [] } of output.updates) {
        const key = `${requestId}/${choiceIndex}`;
        const answer = answers.get(key) ?? { tokenIds: [], logprobs: [] };
        answer.tokenIds.push(...tokenIds);
        answer.logprobs.push(...logprobs);
        answers.set(key, answer);
      }
    }
    expect(core.findViolations()).toEqual([]);
  }
  return answers;
}

/** Each choice as a request of its own. */
async function playAlone(core: EngineCore, entries: readonly Entry[]): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const [requestId, entry] of entries.entries()) {
    for (let choiceIndex = 0; choiceIndex < (entry.choiceCount ?? 1); choiceIndex++) {
      const request = toRequest({ ...entry, choiceCount: 1, priority: 0 });
      const seed = request.sampling.seed + BigInt(choiceIndex);
      core.submit({ ...request, requestId: 0, sampling: { ...request.sampling, seed } });
      answers.set(`${requestId}/${choiceIndex}`, (await play(core, [])).get('0/0')!);
    }
  }
  return answers;
}

describe.each(FAMILIES)('$family', ({ golden, isSharing }) => {
  const index = FAMILIES.findIndex(family => family.golden === golden);
  // One kind of each family, but for a long search.
  const kinds = IS_LONG_RUN ? KINDS : [KINDS[index % KINDS.length]!];

  describe.each(kinds)('in $precision with a $kvType cache', ({ precision, kvType }) => {
    let root: string;
    let alone: EngineCore;
    let busy: EngineCore;
    let runner: SlotModelRunner;

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'ortler-windows-'));
      const [source, model] = [join(root, 'source'), join(root, 'model')];
      await writeGoldenCheckpoint(source, lengthened(golden));
      await buildModel({ sourceDir: source, outputDir: model, precision, variant: 'kernels', kvType });
      const { backend } = await selectBackend('native');
      const manifest = await readManifest(model);
      const load = async (
        options: Pick<SlotsRunnerOptions, 'slotCount' | 'longestRow' | 'rewindLength'>,
        settings: Partial<EngineCoreSettings>,
      ) => {
        const shared = { contextLength: CONTEXT_LENGTH, threadCount: 1, spin: false };
        runner = await createSlotsRunner(backend, model, manifest, { ...shared, ...options });
        return new EngineCore(new HostStepRunner(runner), {
          prefillChunkLength: CONTEXT_LENGTH,
          maxQueuedSequences: 20,
          ...settings,
        });
      };
      alone = await load({ slotCount: 1 }, { drafter: null, prefixCaching: false });
      expect(runner.rings).toBeUndefined();
      busy = await load(
        { slotCount: 4, longestRow: CHUNK_LENGTH, rewindLength: 1 },
        {
          maxSequences: 3,
          prefillChunkLength: CHUNK_LENGTH,
          mixedChunkLength: 21,
          schedulingPolicy: 'priority',
          drafter: RECKLESS_DRAFTER,
        },
      );
    });

    afterAll(async () => {
      await alone?.close();
      await busy?.close();
      await rm(root, { recursive: true, force: true });
    });

    it('gives the same answers in batches, chunks, drafts, preemptions and cache hits as alone over whole contexts', async () => {
      expect(runner.rings).toMatchObject({ window: 12, capacity: RING_LENGTH });
      const expected = await playAlone(alone, FIRST);
      expect(await play(busy, FIRST)).toEqual(expected);
      expect(busy.stats.preemptionCount).toBeGreaterThan(0);
      const before = busy.stats.cacheHitTokenCount;
      const entries = second(expected.get('0/0')!.tokenIds);
      expect(await play(busy, entries)).toEqual(await playAlone(alone, entries));
      expect(busy.stats.cacheHitTokenCount).toBeGreaterThan(before + LONG.length);
      expect(busy.stats.acceptedTokenCount).toBeGreaterThan(0);
    });

    it('finds a prefix of any length of a long sequence, to its last token, and goes on as without a cache', async () => {
      const ownText = LONG.map(tokenId => (tokenId + 1) % 90);
      const [long] = [...(await playAlone(alone, [{ atStep: 0, prompt: ownText, maxTokens: 80 }])).values()];
      const whole = [...ownText, ...long!.tokenIds];
      await play(busy, [{ atStep: 0, prompt: whole, maxTokens: 1 }]);
      // Its ring holds the last 256 of 500 tokens; before that there are saved pieces of 64.
      for (const length of PREFIX_LENGTHS) {
        const before = busy.stats.cacheHitTokenCount;
        const other = (whole[length]! + 1) % 90;
        const entries = [{ atStep: 0, prompt: [...whole.slice(0, length), other, 7, 8], maxTokens: 6 }];
        expect(await play(busy, entries), `${length} tokens`).toEqual(await playAlone(alone, entries));
        expect(busy.stats.cacheHitTokenCount - before).toBe(length);
      }
    });

    it('gives the same answers under random schedules of prompts that share prefixes of any length', async () => {
      let hitCount = 0;
      await fc.assert(
        fc.asyncProperty(randomSchedules, async entries => {
          const expected = await playAlone(alone, entries);
          const before = busy.stats.cacheHitTokenCount;
          expect(await play(busy, entries)).toEqual(expected);
          hitCount += busy.stats.cacheHitTokenCount - before;
        }),
        { numRuns: runs({ daily: 3, full: 6 }) },
      );
      if (IS_FULL_RUN) expect(hitCount).toBeGreaterThan(0);
    });

    it.runIf(isSharing)('has no cache of their own for layers that read those of others', async () => {
      const { layerCaches = [] } = await readManifest(join(root, 'model'));
      expect(layerCaches.filter(({ kvSource }) => kvSource !== undefined)).toHaveLength(3);
    });
  });
});
