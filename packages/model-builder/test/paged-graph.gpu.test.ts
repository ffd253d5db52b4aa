// Graphs with a paged KV cache on a GPU, against transformers, against graphs for the CPU and against themselves.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDecoderConfig, readDecoderConfig } from '../src/architectures/read-decoder-config.ts';
import { variantFault } from '../src/architectures/variant-fault.ts';
import { buildModel } from '../src/build-model.ts';
import { findSkewedMatrices } from '../src/find-skewed-matrices.ts';
import { Checkpoint } from '../src/hugging-face/checkpoint.ts';
import { DecoderWeights } from '../src/hugging-face/decoder-weights.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  logitDeviation,
  writeGoldenCheckpoint,
} from './decoder-golden.ts';
import { isSymmetricIn, QUANTISED_SHAPES, writeDequantised } from './dequantised-checkpoint.ts';
import { type PagedRow, PagedSession, type PagedSessionOptions } from './paged-session.ts';
import { PENDING_CASES, PENDING_FAMILIES } from './pending-families.ts';
import { argmax, largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Largest difference of a logit that float16 activations make here, in deviations of the logits: a value is rounded by up to
 * 1/2048 of it some twenty times on its way. Seen: 0.037.
 */
const FLOAT16_BOUND = 0.04;

/** Two ways to the same tokens: the same roundings, but sums in another order. Seen: 0.019. */
const ORDER_BOUND = 0.04;

/** Float16 bits of something that is not a number. */
const NOT_A_NUMBER = 0x7e00;

const folder = temporaryFolder();
const reason = await whyNoWebGpu();
const here = reason ?? 'here';

const BUILT = DECODER_GOLDENS.filter(({ family }) => !PENDING_FAMILIES.includes(family)).flatMap(
  ({ family, cases, logitStride }) =>
    cases
      .filter(({ name }) => PENDING_CASES[family]?.[name] === undefined)
      .map(golden => ({
        label: `${family}, ${golden.name}`,
        golden,
        fault: variantFault('paged', parseDecoderConfig('config.json', golden.config)),
        prompt: golden.prompts[0]!,
        logitStride,
      })),
);
const GOLDENS = BUILT.filter(({ fault }) => fault === undefined);

describe.each(BUILT.filter(({ fault }) => fault !== undefined))('$label', ({ label, golden, fault }) => {
  it('is refused with what the operator lacks', async () => {
    const sourceDir = join(folder, label, 'source');
    await writeGoldenCheckpoint(sourceDir, golden);
    const outputDir = join(folder, label, 'paged');
    const build = buildModel({ sourceDir, outputDir, precision: 'f16', variant: 'paged' });
    await expect(build).rejects.toMatchObject({ code: 'unsupported', key: fault!.key });
  });
});

describe.skipIf(reason !== undefined).each(GOLDENS)(`f16: $label, ${here}`, golden => {
  const source = join(folder, golden.label, 'source');
  const output = join(folder, golden.label, 'paged');
  const { prompt, logitStride } = golden;
  const { tokens } = prompt;
  const bound = FLOAT16_BOUND * logitDeviation(prompt);
  let session: PagedSession;

  beforeAll(async () => {
    await writeGoldenCheckpoint(source, golden.golden);
    const options = { sourceDir: source, outputDir: output, precision: 'f16', variant: 'paged' } as const;
    const { longRope } = await buildModel(options);
    if (longRope !== undefined) {
      // The first prompt is a short one, for which transformers has the short factors.
      await rm(output, { recursive: true });
      await buildModel({ ...options, contextLength: longRope.originalContextLength });
    }
    session = await PagedSession.open(output);
  });
  afterAll(() => session?.close());

  it('runs no operator on the CPU', () => {
    expect(session.cpuOperators).toEqual([]);
  });

  it(`gives every logit within ${FLOAT16_BOUND} deviations of transformers`, async () => {
    const rows = await session.run([{ tokens, past: 0, blocks: [5, 3] }]);
    expect(differenceFromGolden(rows, prompt, logitStride)).toBeLessThan(bound);
  });

  it('prefers the tokens of transformers when it continues', async () => {
    let row: ArrayLike<number> = prompt.lastLogits;
    for (const [i, next] of prompt.greedy.slice(0, 8).entries()) {
      const values = Float32Array.from(row);
      expect(values[argmax(values)]! - values[next]!, `token ${i}`).toBeLessThan(bound);
      const past = tokens.length + i;
      [row = []] = await session.run([{ tokens: [next], past, blocks: [5, 3, 9] }]);
    }
  });
});

const QUANTISED = QUANTISED_SHAPES.flatMap(shape =>
  (['q8', 'q4'] as const).map(precision => ({ shape, precision })),
);

describe.skipIf(reason !== undefined).each(QUANTISED)(
  `$precision: $shape.label, ${here}`,
  ({ shape, precision }) => {
    const base = join(folder, `${shape.label} ${precision}`);
    const tokens = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 256);

    it(`stays within ${FLOAT16_BOUND} of the values that its codes stand for, all on the device`, async () => {
      const [source, dequantised] = [join(base, 'source'), join(base, 'dequantised')];
      const [built, reference] = [join(base, 'paged'), join(base, 'reference')];
      await createTinyCheckpoint(source, shape);
      const checkpoint = await Checkpoint.open(source);
      const config = await readDecoderConfig(source);
      const skewed = await findSkewedMatrices(new DecoderWeights(checkpoint, config), config, undefined);
      await checkpoint.close();
      const format = { bits: precision === 'q4' ? 4 : 8, blockSize: 32 } as const;
      const isSymmetric = isSymmetricIn(skewed);
      await writeDequantised(dequantised, shape, format, { scaleType: 'float16', isSymmetric });
      await buildModel({ sourceDir: source, outputDir: built, precision, variant: 'paged' });
      await buildModel({ sourceDir: dequantised, outputDir: reference, precision: 'f32' });
      const slots = await SlotsSession.open(reference);
      const expected = await slots.run([tokens], [0]);
      await slots.close();
      const session = await PagedSession.open(built);
      expect(session.cpuOperators).toEqual([]);
      const logits = await session.run([{ tokens, past: 0, blocks: [2, 0] }]);
      expect(differenceOf(logits, expected)).toBeLessThan(FLOAT16_BOUND);
      session.close();
    });
  },
);

describe.skipIf(reason !== undefined)(`one paged graph, ${here}`, () => {
  const built = join(folder, 'one', 'paged');
  const tokens = Array.from({ length: 100 }, (_, i) => (i * 29 + 5) % 256);
  const other = Array.from({ length: 40 }, (_, i) => (i * 41 + 77) % 256);
  let whole: Float32Array[];
  let wholeOther: Float32Array[];

  const withSession = async <T>(
    use: (session: PagedSession) => Promise<T>,
    options?: PagedSessionOptions,
  ) => {
    const session = await PagedSession.open(built, options);
    try {
      return await use(session);
    } finally {
      session.close();
    }
  };
  const row = (past: number, end: number, blocks = [7, 2, 11, 4]): PagedRow => ({
    ...{ past, blocks },
    tokens: tokens.slice(past, end),
  });

  beforeAll(async () => {
    const source = join(folder, 'one', 'source');
    await createTinyCheckpoint(source, { modelType: 'qwen3', seed: 5, config: { head_dim: 32 } });
    await buildModel({ sourceDir: source, outputDir: built, precision: 'q4', variant: 'paged' });
    await withSession(async session => {
      whole = await session.run([row(0, 100)]);
      wholeOther = await session.run([{ tokens: other, past: 0, blocks: [1, 0] }]);
    });
  });

  it('computes a prompt in chunks and token by token as in one call', async () => {
    await withSession(async session => {
      const logits = [...(await session.run([row(0, 33)])), ...(await session.run([row(33, 96)]))];
      for (let past = 96; past < 100; past++) logits.push(...(await session.run([row(past, past + 1)])));
      expect(differenceOf(logits, whole)).toBeLessThan(ORDER_BOUND);
    });
  });

  it('computes chunks and single tokens in one call as if each were alone', async () => {
    await withSession(async session => {
      await session.run([row(0, 99)]);
      const chunk = { tokens: other.slice(0, 30), past: 0, blocks: [1, 0] };
      const first = await session.run([row(99, 100), chunk]);
      expect(differenceOf(first, [whole[99]!, ...wholeOther.slice(0, 30)])).toBeLessThan(ORDER_BOUND);
      const rest = { tokens: other.slice(30), past: 30, blocks: [1, 0] };
      const second = await session.run([rest, { tokens: [tokens[0]!], past: 0, blocks: [3] }]);
      expect(differenceOf(second, [...wholeOther.slice(30), whole[0]!])).toBeLessThan(ORDER_BOUND);
    });
  });

  it('lets sequences share the blocks of what they have in common', async () => {
    await withSession(async session => {
      await session.run([row(0, 64, [7, 2])]);
      const mine = await session.run([row(64, 70, [7, 2, 11]), row(64, 72, [7, 2, 4])]);
      const expected = [...whole.slice(64, 70), ...whole.slice(64, 72)];
      expect(differenceOf(mine, expected)).toBeLessThan(ORDER_BOUND);
    });
  });

  it('never reads what lies after the last token of a sequence', async () => {
    await withSession(
      async session => {
        const logits = [...(await session.run([row(0, 50)])), ...(await session.run([row(50, 51)]))];
        expect(differenceOf(logits, whole.slice(0, 51))).toBeLessThan(ORDER_BOUND);
      },
      { fill: NOT_A_NUMBER },
    );
  });

  it('has a graph for CUDA, whose every operator WebGPU has and of which it refuses the norms alone', async () => {
    await withSession(
      async session => {
        expect(session.cpuOperators).toEqual([]);
        const refusal = /PagedAttention \(WebGPU\): q_norm_weight\/k_norm_weight inputs are not supported/;
        await expect(session.run([row(0, 10)])).rejects.toThrow(refusal);
      },
      { graph: 'cudaGraphFile' },
    );
  });

  it('has blocks of any power of two from the shortest', async () => {
    const blocks = [3, 1];
    const logits = await withSession(session => session.run([row(0, 100, blocks)]), { blockLength: 64 });
    expect(differenceOf(logits, whole)).toBeLessThan(ORDER_BOUND);
  });

  it('computes logits of the rows that were asked for only, in their order', async () => {
    await withSession(async session => {
      const rows = [row(0, 40), { tokens: other, past: 0, blocks: [1, 0] }];
      const [first, second, ...more] = await session.run(rows, [79, 39]);
      expect(more).toEqual([]);
      expect(largestDifference(first!, wholeOther[39]!)).toBeLessThan(ORDER_BOUND);
      expect(largestDifference(second!, whole[39]!)).toBeLessThan(ORDER_BOUND);
    });
  });
});

function differenceOf(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  expect(a.length).toBe(b.length);
  return Math.max(...a.map((row, i) => largestDifference(row, b[i]!)));
}
