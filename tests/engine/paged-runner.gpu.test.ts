// The paged runner on a real graph and a real device, or a driver that stands in for one, against the slots runner on the
// processor. What is compared are logits of a random model: whatever goes to a wrong place shows at once.

import {
  createPagedRunner,
  createSlotsRunner,
  type PagedRunner,
  type PagedRunnerOptions,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CountingBackend, countAllocations } from './counting-backend.ts';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const CONTEXT_LENGTH = 256;
const MAX_SEQUENCES = 6;
const VOCAB_SIZE = 288;
/** Float16 has 11 bits; logits of the tiny model are of the order of 1, and errors of some hundred roundings add up. */
const FLOAT16_ROUNDING = 0.05;
/** What one sequence's logits are from another's, at least: a wrong block is far beyond rounding. */
const DIFFERENT = 0.5;

const why = await whyNoWebGpu();
if (why !== undefined) console.warn(`Tests of the paged runner are left out: ${why}`);

/** Token ids that look random and are the same every time. */
function tokens(count: number, seed: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => (seed * 7919 + i * 104_729 + i * i * 31) % VOCAB_SIZE);
}

function difference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((most, value, index) => {
    const distance = Math.abs(value - b[index]!);
    return Number.isNaN(distance) || distance > most ? distance : most;
  }, 0);
}

/** A sequence with blocks of its own, some of its tokens computed. */
class Track {
  readonly tokenIds: Int32Array;
  readonly blocks: Int32Array;
  readonly slot: number;
  computedLength = 0;

  constructor(slot: number, blocks: readonly number[], seed = slot) {
    this.slot = slot;
    this.blocks = Int32Array.from(blocks);
    this.tokenIds = tokens(CONTEXT_LENGTH, seed + 1);
  }

  row(length: number, logitsCount = 1): RunnerRow {
    const { slot, blocks, computedLength } = this;
    const tokenIds = this.tokenIds.subarray(computedLength, computedLength + length);
    return { slot, blocks, computedLength, tokenIds, logitsCount };
  }
}

describe.skipIf(why !== undefined)('the paged runner', () => {
  let folders: readonly TinyModelFolder[] = [];
  let counting: CountingBackend;
  let paged: PagedRunner;
  let slots: SlotModelRunner;
  const warmUps: (readonly [number, number])[] = [];

  const open = async (dir: string, options: Partial<PagedRunnerOptions> = {}): Promise<PagedRunner> =>
    createPagedRunner(counting.backend, dir, await readManifest(dir), {
      ...{ device: 'webgpu', threadCount: 1, spin: false },
      ...{ maxSequences: MAX_SEQUENCES, contextLength: CONTEXT_LENGTH, spareContexts: 2 },
      prefillChunkLength: 64,
      ...options,
    });

  beforeAll(async () => {
    const { backend } = await selectBackend('native');
    counting = countAllocations(backend);
    const checkpoint = { modelType: 'qwen3' } as const;
    folders = [
      await createTinyModelFolder('f16', checkpoint, { variant: 'paged' }),
      await createTinyModelFolder('f32', checkpoint),
    ];
    const [pagedDir, slotsDir] = folders.map(folder => folder.dir) as [string, string];
    paged = await open(pagedDir, { onWarmUp: (done, total) => warmUps.push([done, total]) });
    slots = await createSlotsRunner(backend, slotsDir, await readManifest(slotsDir), {
      slotCount: MAX_SEQUENCES,
      contextLength: CONTEXT_LENGTH,
      threadCount: 1,
      spin: false,
    });
  });

  afterAll(async () => {
    await paged?.close();
    await slots?.close();
    for (const folder of folders) await folder.remove();
  });

  /** Logits of each row, in order. */
  async function run(...rows: readonly RunnerRow[]): Promise<Float32Array[]> {
    const logits = await paged.run(rows);
    let start = 0;
    return rows.map(({ logitsCount }) => {
      const end = start + logitsCount * VOCAB_SIZE;
      const part = logits.slice(start, end);
      start = end;
      return part;
    });
  }

  /** Logits of the track's next tokens on the CPU. Mutates: they are computed then. */
  async function advance(track: Track, length: number): Promise<Float32Array> {
    const logits = (await slots.run([track.row(length)])).slice();
    track.computedLength += length;
    return logits;
  }

  function tracks(count: number): Track[] {
    const width = CONTEXT_LENGTH / paged.blockLength;
    // Neighbouring blocks belong to different sequences.
    return Array.from(
      { length: count },
      (_, slot) =>
        new Track(
          slot,
          Array.from({ length: width }, (_, index) => index * count + slot),
        ),
    );
  }

  it.each([64, 128, 256])(
    'computes in blocks of %i tokens, which CUDA has, as the CPU does',
    async blockLength => {
      const long = await open(folders[0]!.dir, { blockLength });
      try {
        const width = CONTEXT_LENGTH / blockLength;
        const [first, second] = [0, 1].map(
          slot =>
            new Track(
              slot,
              Array.from({ length: width }, (_, index) => 2 * index + slot),
            ),
        ) as [Track, Track];
        for (const call of [[[first, 70] as const], [[first, 1] as const, [second, 33] as const]]) {
          const logits = (await long.run(call.map(([track, length]) => track.row(length)))).slice();
          for (const [index, [track, length]] of call.entries()) {
            const own = logits.subarray(index * VOCAB_SIZE, (index + 1) * VOCAB_SIZE);
            expect(difference(own, await advance(track, length))).toBeLessThan(FLOAT16_ROUNDING);
          }
        }
      } finally {
        await long.close();
      }
    },
  );

  it('reports the progress of its warm-up, to the end', () => {
    expect(warmUps[0]![0]).toBe(0);
    expect(warmUps.at(-1)![0]).toBe(warmUps.at(-1)![1]);
    expect(warmUps.map(([done]) => done)).toEqual(warmUps.map((_, index) => index));
  });

  it('computes chunks and decodes in one call as the CPU computes each alone, within float16', async () => {
    const all = tracks(4);
    const steps = [
      [9, 0, 0, 0],
      [1, 40, 0, 0],
      [1, 1, 17, 0],
      [1, 1, 31, 5],
      [1, 1, 1, 1],
      [0, 1, 64, 1],
      [33, 0, 0, 32],
      [1, 1, 1, 1],
      [1, 1, 1, 0],
      [64, 64, 1, 64],
    ];
    for (const lengths of steps) {
      const active = all.filter((_, index) => lengths[index]! > 0);
      const found = await run(...active.map(track => track.row(lengths[track.slot]!)));
      for (const [index, track] of active.entries()) {
        const expected = await advance(track, lengths[track.slot]!);
        expect(difference(found[index]!, expected), `${lengths}, ${index}`).toBeLessThan(FLOAT16_ROUNDING);
      }
    }
  });

  it('computes a prompt in chunks as in one, and gives logits of as many positions as are asked for', async () => {
    const [whole, parts] = tracks(2) as [Track, Track];
    parts.tokenIds.set(whole.tokenIds);
    const [expected] = await run(whole.row(60, 60));
    const found: Float32Array[] = [];
    for (const length of [1, 7, 20, 32]) {
      found.push(...(await run(parts.row(length, length))));
      parts.computedLength += length;
    }
    const joined = Float32Array.from(found.flatMap(part => [...part]));
    expect(difference(joined, expected!)).toBeLessThan(FLOAT16_ROUNDING);
  });

  it('copies blocks in the order in which they were requested, before the next call', async () => {
    const [first, second] = tracks(2) as [Track, Track];
    await run(first.row(40), second.row(40));
    for (const track of [first, second]) track.computedLength = 40;
    const expected = await run(first.row(1), second.row(1));
    const free = 2 * first.blocks.length;
    const [a, b, c] = [free, free + 1, free + 2];
    // Through a block that is overwritten right after, and more copies than one call makes.
    for (let round = 0; round < 5; round++) {
      paged.copyBlock(first.blocks[0]!, a);
      paged.copyBlock(a, b);
      paged.copyBlock(second.blocks[0]!, a);
      paged.copyBlock(first.blocks[1]!, c);
    }
    const copy = { ...first.row(1), blocks: Int32Array.of(b, c) };
    const other = { ...second.row(1), blocks: Int32Array.of(a, second.blocks[1]!) };
    const found = await run(copy, other);
    expect(difference(found[0]!, expected[0]!)).toBeLessThan(FLOAT16_ROUNDING);
    expect(difference(found[1]!, expected[1]!)).toBeLessThan(FLOAT16_ROUNDING);
    expect(difference(found[0]!, found[1]!)).toBeGreaterThan(DIFFERENT);
  });

  it('reads nothing that was never written', async () => {
    const [track] = tracks(1) as [Track];
    const lengths = [40, 1, 64, 1];
    const play = async (): Promise<Float32Array[]> => {
      track.computedLength = 0;
      const found: Float32Array[] = [];
      for (const length of lengths) {
        found.push(...(await run(track.row(length))));
        track.computedLength += length;
      }
      return found;
    };
    const expected = await play();
    const { backend, values } = counting;
    for (const value of values) {
      if (value.type !== 'float16') continue;
      const size = value.shape.reduce((product, dimension) => product * dimension, 1);
      const nan = backend.createTensor('float16', value.shape, new Uint16Array(size).fill(0x7e00));
      await backend.copy(nan, value);
      nan.dispose();
    }
    for (const [index, logits] of (await play()).entries())
      expect(difference(logits, expected[index]!), `${index}`).toBeLessThan(FLOAT16_ROUNDING);
  });

  it('allocates nothing on the device after its load, whatever the steps are', async () => {
    const before = counting.allocationCount;
    const all = tracks(5);
    const play = async (step: number): Promise<void> => {
      const rows = all.map(track => track.row(step % 9 === track.slot ? 5 : 1));
      if (step % 4 === 0) paged.copyBlock(all[0]!.blocks[0]!, paged.blockCount - 1);
      await run(...rows.slice(0, 1 + (step % 5)));
      for (const track of all) track.computedLength = (track.computedLength + 3) % 200;
    };
    for (let step = 0; step < 60; step++) await play(step);
    expect(counting.allocationCount).toBe(before);
  });

  it('frees everything on the device at the end, and says what does not fit', async () => {
    const before = new Set(counting.values);
    const dir = folders[0]!.dir;
    const small = await open(dir, { maxSequences: 1, contextLength: 64, spareContexts: 0 });
    expect(small.blockCount).toBe(2);
    await small.close();
    expect(counting.values).toEqual(before);
    await expect(open(dir, { cacheBytes: 1_000 })).rejects.toMatchObject({
      code: 'model_invalid',
      parameter: 'tuning.cacheBytes',
    });
    expect(counting.values).toEqual(before);
  });
});
