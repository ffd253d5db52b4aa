// Every family that is built, in f32 and in q8 or q4, a long search in all three: the logits of a sequence do not depend on how it
// is divided into calls and batches, and quantised builds stay near those of transformers.

import { join } from 'node:path';
import { IS_LONG_RUN } from 'test-runs';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  hasExperts,
  hasRecurrentLayers,
  logitDeviation,
  writeGoldenCheckpoint,
} from './decoder-golden.ts';
import { PENDING_FAMILIES } from './pending-families.ts';
import { expectSameBits } from './same-bits.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CAPACITY = 256;

/**
 * Largest difference of a logit from transformers, in deviations of the logits. Matrices are a few dozen wide, so that roundings
 * hardly average out. Seen: 0.20 in q8 and 0.82 in q4, after squares of ReLU.
 */
const BOUNDS = { f32: 1e-4, q8: 0.25, q4: 1 } as const;
/** Gemma 4 does not scale down its scores, so that roundings of queries and keys weigh more. */
const SHARP_BOUNDS = { f32: 1e-4, q8: 0.6, q4: 1.6 } as const;
/** Recurrent layers multiply two or three projections with each other, and their states keep roundings of earlier tokens. */
const RECURRENT_BOUNDS = { f32: 1e-4, q8: 0.5, q4: 2.5 } as const;
/** A rounding may choose another expert, where two score alike: a few logits are then of another computation. */
const ROUTED_BOUNDS = { f32: 1e-4, q8: 1.2, q4: 2 } as const;
/** Both: another expert shows in the state of all later tokens. */
const ROUTED_RECURRENT_BOUNDS = { f32: 1e-4, q8: 2, q4: 2.5 } as const;

function boundsOf({ family, cases }: (typeof DECODER_GOLDENS)[number]) {
  const isRouted = hasExperts(cases[0]!);
  if (hasRecurrentLayers(cases[0]!)) return isRouted ? ROUTED_RECURRENT_BOUNDS : RECURRENT_BOUNDS;
  if (isRouted) return ROUTED_BOUNDS;
  return family.startsWith('gemma4') ? SHARP_BOUNDS : BOUNDS;
}

const KINDS = [
  { precision: 'f32', kvType: 'float32' },
  { precision: 'q8', kvType: 'int8' },
  { precision: 'q4', kvType: 'float16' },
] as const;

const folder = temporaryFolder();
const families = DECODER_GOLDENS.filter(({ family }) => !PENDING_FAMILIES.includes(family));

describe.each(families)('$family', tested => {
  const [exact, ...quantised] = KINDS;
  const kinds = IS_LONG_RUN ? KINDS : [exact, quantised[families.indexOf(tested) % quantised.length]!];
  const { family, cases, logitStride } = tested;
  const golden = cases[0]!;
  const source = join(folder, family, 'source');

  beforeAll(async () => {
    await writeGoldenCheckpoint(source, golden);
  });

  describe.each(kinds)('in $precision with a $kvType cache', ({ precision, kvType }) => {
    const model = join(folder, family, precision);
    const { [precision]: limit } = boundsOf(tested);
    const prompt = golden.prompts.at(-1)!;
    const { tokens } = prompt;
    let whole: Float32Array[];

    beforeAll(async () => {
      await buildModel({ sourceDir: source, outputDir: model, precision, variant: 'kernels', kvType });
      whole = await inCalls(model, tokens, [tokens.length]);
    });

    it(`is within ${limit} deviations of transformers`, () => {
      const bound = limit * logitDeviation(prompt);
      expect(differenceFromGolden(whole, prompt, logitStride)).toBeLessThan(bound);
    });

    it('has bit for bit the logits of a whole prompt when it is computed in chunks', async () => {
      const chunks = [1, 19, 2, tokens.length - 22];
      expectSameBits(await inCalls(model, tokens, chunks), whole);
    });

    it('decodes sequences of different lengths together bit for bit as each alone', async () => {
      const lengths = [tokens.length - 1, 5, 20];
      const options = { capacity: CAPACITY };
      const together = await SlotsSession.open(model, { ...options, batch: lengths.length, threadCount: 2 });
      const alone: Float32Array[] = [];
      for (const [slot, length] of lengths.entries()) {
        const session = await SlotsSession.open(model, options);
        await session.run([tokens.slice(0, length)], [0], [0]);
        together.copyCacheFrom(session, slot);
        alone.push(...(await session.run([[tokens[length]!]], [length])));
        await session.close();
      }
      const batched = await together.run(
        lengths.map(length => [tokens[length]!]),
        lengths,
      );
      await together.close();
      expectSameBits(batched, alone);
    });
  });
});

/** Logits of every position when the tokens are computed in calls of these lengths. */
async function inCalls(
  model: string,
  tokens: readonly number[],
  lengths: readonly number[],
): Promise<Float32Array[]> {
  const session = await SlotsSession.open(model, { capacity: CAPACITY });
  const rows: Float32Array[] = [];
  for (const length of lengths)
    rows.push(...(await session.run([tokens.slice(rows.length, rows.length + length)], [rows.length])));
  await session.close();
  return rows;
}
