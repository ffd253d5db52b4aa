// Float32 builds of small seeded checkpoints of every family against logits and greedy tokens that transformers computed.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BuildManifest } from '../src/build-manifest.ts';
import { buildModel } from '../src/build-model.ts';
import { ModelBuildError } from '../src/errors.ts';
import type { TensorToWrite } from '../src/testing/write-safetensors.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  type GoldenCase,
  type GoldenPrompt,
  hasExperts,
  hasLatentRows,
  hasRecurrentLayers,
  writeGoldenCheckpoint,
} from './decoder-golden.ts';
import { PENDING_CASES, PENDING_FAMILIES } from './pending-families.ts';
import { argmax, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const VARIANTS = ['kernels', 'slots'] as const;
/** Unit: tokens. The longest prompt with its continuation has 348. */
const CAPACITY = 384;

const folder = temporaryFolder();

function sumOfBits(tensors: readonly TensorToWrite[]): number {
  let sum = 0;
  for (const tensor of tensors) {
    const values = new Float32Array(elementCount(tensor.shape));
    tensor.fill(values, 0);
    for (const bits of new Uint32Array(values.buffer)) sum = (sum + bits) >>> 0;
  }
  return sum;
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

async function refusal(
  sourceDir: string,
  outputDir: string,
  variant: (typeof VARIANTS)[number] = 'kernels',
): Promise<ModelBuildError> {
  const options = { sourceDir, outputDir, precision: 'f32', variant } as const;
  const outcome: unknown = await buildModel(options).catch(error => error);
  if (outcome instanceof ModelBuildError) return outcome;
  throw new Error('is built now: take it from the list of what is pending', { cause: outcome });
}

describe.each(DECODER_GOLDENS)('$family', ({ family, provenance, cases, logitStride }) => {
  it('has a golden that states how it was made', () => {
    expect(provenance).toMatchObject({
      script: 'make_goldens.py',
      transformers: expect.stringMatching(/^\d+/),
    });
    expect(cases.length).toBeGreaterThan(0);
  });

  describe.each(cases)('$name', golden => {
    const source = join(folder, family, golden.name, 'source');
    const output = (variant: string) => join(folder, family, golden.name, variant);
    let tensors: TensorToWrite[];

    beforeAll(async () => {
      tensors = await writeGoldenCheckpoint(source, golden);
    });

    it('has the very weights that the golden was computed from', () => {
      expect(sumOfBits(tensors)).toBe(golden.weightBitSum);
    });

    const pendingKey = PENDING_FAMILIES.includes(family)
      ? 'model_type'
      : PENDING_CASES[family]?.[golden.name];
    if (pendingKey !== undefined) {
      it(`is refused for now, by the key ${pendingKey}`, async () => {
        const { code, key, message } = await refusal(source, output('refused'));
        expect({ code, key }).toEqual({ code: 'unsupported', key: pendingKey });
        if (pendingKey === 'model_type') expect(message).toContain(`"${family}"`);
      });
      return;
    }

    const needsKernels = hasExperts(golden) || hasRecurrentLayers(golden) || hasLatentRows(golden);
    it.runIf(needsKernels)('is refused with operators of ONNX Runtime alone', async () => {
      const { code, message } = await refusal(source, output('refused'), 'slots');
      expect(code).toBe('unsupported');
      expect(message).toMatch(/CPU kernels .*not built as "slots"$/);
    });

    describe.each(VARIANTS.filter(variant => variant === 'kernels' || !needsKernels))('%s', variant => {
      let manifest: BuildManifest;
      /** For short contexts, where the model has other rotations in long ones. */
      const shortContext = output(`${variant}-short`);

      beforeAll(async () => {
        const outputDir = output(variant);
        const options = { sourceDir: source, precision: 'f32', variant } as const;
        manifest = await buildModel({ ...options, outputDir });
        const { longRope } = manifest;
        if (longRope === undefined) return;
        expect(longRope.factors).toBe('long');
        const contextLength = longRope.originalContextLength;
        const short = await buildModel({ ...options, contextLength, outputDir: shortContext });
        expect(short).toMatchObject({ contextLength, longRope: { factors: 'short' } });
      });

      it('gives every logit within 1e-4 and the same 48 greedy tokens', async () => {
        const { originalContextLength = 0 } = manifest.longRope ?? {};
        for (const prompt of golden.prompts) {
          const isShort = prompt.tokens.length + prompt.greedy.length <= originalContextLength;
          const model = isShort ? shortContext : output(variant);
          const { difference, greedy } = await compare(model, prompt, logitStride);
          expect(difference, `prompt of ${prompt.tokens.length}`).toBeLessThan(1e-4);
          expect(greedy, `prompt of ${prompt.tokens.length}`).toEqual(prompt.greedy);
        }
      });

      it('counts the parameters of the text model', () => {
        expect(manifest.parameterCount).toBe(textParameterCount(golden));
      });
    });
  });
});

it('names only families and cases that have a golden as pending', () => {
  const names = new Map(DECODER_GOLDENS.map(({ family, cases }) => [family, cases.map(({ name }) => name)]));
  for (const family of PENDING_FAMILIES) expect([...names.keys()]).toContain(family);
  for (const [family, cases] of Object.entries(PENDING_CASES))
    for (const name of Object.keys(cases)) expect(names.get(family)).toContain(name);
});

async function compare(
  model: string,
  prompt: GoldenPrompt,
  logitStride: number,
): Promise<{ difference: number; greedy: number[] }> {
  const session = await SlotsSession.open(model, { capacity: CAPACITY });
  const rows = await session.run([prompt.tokens], [0]);
  const greedy = [argmax(rows.at(-1)!)];
  while (greedy.length < prompt.greedy.length) {
    const [row] = await session.run([[greedy.at(-1)!]], [prompt.tokens.length + greedy.length - 1]);
    greedy.push(argmax(row!));
  }
  await session.close();
  return { difference: differenceFromGolden(rows, prompt, logitStride), greedy };
}

function textParameterCount({ tensors }: GoldenCase): number {
  const text = Object.entries(tensors).filter(([name]) => !/vision|visual|multi_modal_projector/.test(name));
  return text.reduce((sum, [, [shape]]) => sum + elementCount(shape), 0);
}
