// Batch invariance of the step loop on real graphs. With the kernels, log probabilities are bit for bit those of the request alone,
// in every precision and type of cache. ONNX Runtime's own operators round by the rows of a call, so there they are near.

import {
  type KvType,
  type Precision,
  VARIANT_KV_TYPES,
  VARIANT_PRECISIONS,
} from '@ortler/engine/graph-contract';
import {
  type CoreOptions,
  createSlotsRunner,
  EngineCore,
  HostStepRunner,
  loadCore,
  NEUTRAL_SAMPLING,
  readManifest,
  type SubmitMessage,
  type TokenLogprobs,
  type TuningOptions,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  behind,
  prompts,
  RECKLESS_DRAFTER,
  SHORTEST_CACHES,
  type Windowed,
  windowConfig,
} from './random-requests.ts';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const CONTEXT_LENGTH = 48;
const TOP_COUNT = 20;

/** `file` has the formats of the others. */
const PRECISIONS = VARIANT_PRECISIONS.kernels.filter(precision => precision !== 'file');

interface KernelsModel {
  readonly precision: Precision;
  readonly kvType: KvType;
  readonly windowed?: Windowed;
}

const KERNEL_MODELS: readonly KernelsModel[] = [
  ...PRECISIONS.flatMap(precision => VARIANT_KV_TYPES.kernels.map(kvType => ({ precision, kvType }))),
  { precision: 'f32', kvType: 'float32', windowed: { window: 9, before: 250 } },
  { precision: 'q8', kvType: 'int8', windowed: { window: 20, before: 236 } },
  { precision: 'q4', kvType: 'float16', windowed: { window: 3, before: 225 } },
];

function describeModel({ precision, kvType, windowed }: KernelsModel): string {
  const kind = `tiny ${precision} model with a ${kvType} cache of the kernels`;
  return windowed === undefined ? kind : `${kind} and a window of ${windowed.window}`;
}

/**
 * What roundings may do to a log probability with ONNX Runtime's own operators, on a tiny model whose logits have a deviation of
 * about 1. `MatMulNBits` adds in another order for one row than for several, and attention for other lengths, which may turn the
 * rounding of an activation: it moves by 1/127 of the largest of its block.
 */
const SLOTS_BOUND = 0.05;

const requests = fc.array(
  fc.record({
    atStep: fc.nat({ max: 12 }),
    promptTokenIds: prompts,
    choiceCount: fc.integer({ min: 1, max: 3 }),
    maxTokens: fc.integer({ min: 1, max: 16 }),
    priority: fc.integer({ min: 0, max: 2 }),
    temperature: fc.constantFrom(0, 0.8),
    seed: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  }),
  { minLength: 2, maxLength: 8 },
);

type Requests = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

/** Tokens of each choice with the log probabilities of the best ones at their places. */
async function play(core: EngineCore, entries: Requests): Promise<Map<string, TokenLogprobs[]>> {
  const tokens = new Map<string, TokenLogprobs[]>();
  const waiting = entries.map(({ atStep, temperature, seed, ...entry }, requestId) => {
    const submission: SubmitMessage = {
      ...entry,
      kind: 'submit',
      requestId,
      sampling: { ...NEUTRAL_SAMPLING, temperature, seed },
      minTokens: 0,
      eosTokenIds: [],
      stopTokenIds: [],
      minTokensBannedIds: [],
      logprobs: { topCount: TOP_COUNT },
    };
    return { atStep, submission };
  });
  for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
    for (const { submission } of waiting.filter(({ atStep }) => atStep <= step)) core.submit(submission);
    waiting.splice(0, waiting.length, ...waiting.filter(({ atStep }) => atStep > step));
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`${output.kind}: ${output.message}`);
      for (const { requestId, choiceIndex, logprobs } of output.updates) {
        const key = `${requestId}/${choiceIndex}`;
        tokens.set(key, [...(tokens.get(key) ?? []), ...logprobs!]);
      }
    }
    expect(core.findViolations()).toEqual([]);
  }
  return tokens;
}

/** Each choice as a request of its own, one at a time. */
async function playAlone(core: EngineCore, entries: Requests): Promise<Map<string, TokenLogprobs[]>> {
  const tokens = new Map<string, TokenLogprobs[]>();
  for (const [requestId, entry] of entries.entries()) {
    for (let choice = 0; choice < entry.choiceCount; choice++) {
      const alone = { ...entry, atStep: 0, choiceCount: 1, seed: entry.seed + BigInt(choice) };
      tokens.set(`${requestId}/${choice}`, (await play(core, [alone])).get('0/0')!);
    }
  }
  return tokens;
}

/** Tokens and the bits of all their log probabilities. */
function bitsOf(tokens: readonly TokenLogprobs[]): unknown {
  return tokens.map(({ tokenId, logprob, rank, topTokenIds, topLogprobs }) => ({
    ...{ tokenId, rank, topTokenIds: [...topTokenIds] },
    bits: [...new BigUint64Array(Float64Array.of(logprob, ...topLogprobs).buffer)],
  }));
}

interface Cores {
  /** One sequence at a time, in one chunk, without cache, drafts and threads. */
  readonly alone: EngineCore;
  readonly others: readonly EngineCore[];
  close(): Promise<void>;
}

async function createCores(modelDir: string, contextLength = CONTEXT_LENGTH): Promise<Cores> {
  const load = (tuning: TuningOptions, options: Partial<CoreOptions>) =>
    loadCore({
      modelDir,
      device: 'cpu',
      threadCount: 1,
      schedulingPolicy: 'priority',
      contextLength,
      maxSequences: 1,
      ...options,
      tuning: { backend: 'native', prefillChunkLength: contextLength, maxQueuedSequences: 50, ...tuning },
    });
  const { backend } = await selectBackend('native');
  const slots = { slotCount: 9, contextLength, threadCount: 3, spin: false, ...SHORTEST_CACHES };
  const runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), slots);
  const alone = await load({ speculativeDecoding: 'off' }, { prefixCaching: false });
  const others = [
    await load({ prefillChunkLength: 7, mixedChunkLength: 3, cacheSlots: 3 }, { maxSequences: 8 }),
    await load({ prefillChunkLength: 5, cacheSlots: 0 }, { maxSequences: 2, threadCount: 2 }),
    new EngineCore(new HostStepRunner(runner), {
      maxSequences: 6,
      prefillChunkLength: 11,
      maxQueuedSequences: 50,
      schedulingPolicy: 'priority',
      drafter: RECKLESS_DRAFTER,
    }),
  ];
  const close = async () => {
    for (const core of [alone, ...others]) await core.close();
  };
  return { alone, others, close };
}

/** Of each of the other cores, over all models: random requests of a single model may miss a rare event. */
const rareEvents = Array.from({ length: 3 }, () => ({ preemptions: 0, hits: 0, acceptedTokens: 0 }));

function countRareEvents({ others }: Cores): void {
  for (const [index, { stats }] of others.entries()) {
    const counts = rareEvents[index]!;
    counts.preemptions += stats.preemptionCount;
    counts.hits += stats.cacheHitTokenCount;
    counts.acceptedTokens += stats.acceptedTokenCount;
  }
}

describe.each(KERNEL_MODELS.map(model => [describeModel(model), model] as const))(
  'EngineCore on a %s',
  (_kind, model) => {
    const before = model.windowed?.before ?? 0;
    let folder: TinyModelFolder;
    let cores: Cores;

    beforeAll(async () => {
      folder = await createTinyModelFolder(model.precision, windowConfig(model.windowed), model);
      cores = await createCores(folder.dir, before + CONTEXT_LENGTH);
    });

    afterAll(async () => {
      await cores.close();
      await folder.remove();
    });

    it('gives bit for bit the log probabilities of each choice alone: in any batch, with any chunks, cache hits, drafts, preemptions, forks and 1, 2 or 3 threads', async () => {
      await fc.assert(
        fc.asyncProperty(requests, async random => {
          const entries = random.map(entry => {
            return { ...entry, promptTokenIds: behind(before, entry.promptTokenIds) };
          });
          const expected = await playAlone(cores.alone, entries);
          for (const core of cores.others) {
            const actual = await play(core, entries);
            expect([...actual.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
            for (const [key, tokens] of actual)
              expect(bitsOf(tokens), key).toEqual(bitsOf(expected.get(key)!));
          }
        }),
        { numRuns: runs({ daily: 10, full: 12 }) },
      );
      countRareEvents(cores);
    });
  },
);

/** Compares up to the first token that differs, which must have been nearly as probable. Returns how many are equal. */
function compare(
  actual: readonly TokenLogprobs[],
  expected: readonly TokenLogprobs[],
  bound: number,
): number {
  expect(actual.length).toBe(expected.length);
  for (const [place, { tokenId, topTokenIds, topLogprobs }] of expected.entries()) {
    const own = actual[place]!;
    for (const [i, id] of topTokenIds.entries()) {
      const at = own.topTokenIds.indexOf(id);
      // The last ones of one list may be beyond the end of the other.
      if (at < 0) expect(topLogprobs[i]! - own.topLogprobs.at(-1)!).toBeLessThan(bound);
      else expect(Math.abs(topLogprobs[i]! - own.topLogprobs[at]!)).toBeLessThan(bound);
    }
    if (own.tokenId === tokenId) continue;
    const other = topLogprobs[topTokenIds.indexOf(own.tokenId)]!;
    expect(topLogprobs[0]! - other).toBeLessThan(2 * bound);
    return place;
  }
  return expected.length;
}

describe("EngineCore on a tiny q4 model with ONNX Runtime's own operators", () => {
  let folder: TinyModelFolder;
  let cores: Cores;

  beforeAll(async () => {
    folder = await createTinyModelFolder('q4', {}, { variant: 'slots' });
    cores = await createCores(folder.dir);
  });

  afterAll(async () => {
    await cores.close();
    await folder.remove();
  });

  it('gives log probabilities of each choice alone but for roundings, and its tokens but for near ties', async () => {
    let tokenCount = 0;
    let equalCount = 0;
    const greedy = requests.map(entries => entries.map(entry => ({ ...entry, temperature: 0 as const })));
    await fc.assert(
      fc.asyncProperty(greedy, async entries => {
        const expected = await playAlone(cores.alone, entries);
        for (const core of cores.others)
          for (const [key, tokens] of await play(core, entries)) {
            const own = expected.get(key)!;
            tokenCount += own.length;
            equalCount += compare(tokens, own, SLOTS_BOUND);
          }
      }),
      // Fixed, because a draw may hit a larger rounding than the bound without an error of the loop.
      { numRuns: runs({ daily: 6, full: 8 }), seed: 20_261_122 },
    );
    // Most places are not near ties; of what follows one, nothing is compared.
    expect(equalCount / tokenCount).toBeGreaterThan(0.95);
    countRareEvents(cores);
  });
});

// A daily run may miss them.
it.runIf(IS_FULL_RUN)(
  'meets preemptions, cache hits and accepted drafts while it compares the models',
  () => {
    for (const { preemptions, hits } of rareEvents) {
      expect(preemptions).toBeGreaterThan(0);
      expect(hits).toBeGreaterThan(50);
    }
    expect(rareEvents.at(-1)!.acceptedTokens).toBeGreaterThan(0);
  },
);
