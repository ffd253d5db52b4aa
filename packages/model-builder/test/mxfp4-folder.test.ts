// gpt-oss as it is published, with experts in MXFP4, in a folder and in a GGUF file, against the same values in floats.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import { tinyTokenizerFiles } from '../src/testing/tiny-tokenizer.ts';
import { type RawTensor, writeRawSafetensors } from '../src/testing/write-raw-safetensors.ts';
import type { WrittenMatrix } from '../src/weights/written-matrix.ts';
import { DECODER_GOLDENS, type GoldenCase, type GoldenTensor } from './decoder-golden.ts';
import { type GgufPlan, writeFamilyGguf } from './family-gguf.ts';
import { clampedExperts } from './gguf-rules.ts';
import { expectSameBits } from './same-bits.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6];

/** The golden with sizes of whole blocks. */
const golden: GoldenCase = DECODER_GOLDENS.find(({ family }) => family === 'gpt_oss')!.cases[0]!;
const INNER = 64;
// A GGUF file has no other limit.
const config = { ...golden.config, intermediate_size: INNER, swiglu_limit: 7 };

function sizeOf(name: string, shape: readonly number[]): readonly number[] {
  if (name.endsWith('gate_up_proj')) return [shape[0]!, shape[1]!, 2 * INNER];
  if (name.endsWith('gate_up_proj_bias')) return [shape[0]!, 2 * INNER];
  return name.endsWith('experts.down_proj') ? [shape[0]!, INNER, shape[2]!] : shape;
}

/** Codes of a matrix of all experts, `[experts, outputs, inputs]`. */
function codesOf(name: string, count: number): { readonly blocks: Uint8Array; readonly scales: Uint8Array } {
  return {
    blocks: Uint8Array.from({ length: count / 2 }, (_, i) => (i * 7 + (i >> 5) * 13 + name.length) & 255),
    scales: Uint8Array.from({ length: count / 32 }, (_, i) => 122 + ((i * 5 + 1) % 4)),
  };
}

/** The rows of a matrix as a file has them: a power, then 16 bytes with inputs i and i + 16. */
const filePlan: GgufPlan = {
  architecture: 'gpt-oss',
  modules: { post_attention_layernorm: 'post_attention_norm' },
  fields: {
    'attention.sliding_window': { uint32: 12 },
    expert_count: { uint32: 8 },
    expert_used_count: { uint32: 3 },
    expert_feed_forward_length: { uint32: INNER },
    'rope.scaling.type': 'yarn',
    'rope.scaling.factor': { float32: 32 },
    'rope.scaling.original_context_length': { uint32: 16 },
    'rope.scaling.yarn_beta_fast': { float32: 32 },
    'rope.scaling.yarn_beta_slow': { float32: 1 },
  },
  rule(tensor, ofModel) {
    const { name, shape } = tensor;
    if (shape.length !== 3) return clampedExperts(tensor, ofModel);
    const [experts, inputs, outputs] = shape as [number, number, number];
    const { blocks, scales } = codesOf(name, experts * inputs * outputs);
    const codeAt = (at: number) => (blocks[at >> 1]! >> (4 * (at & 1))) & 15;
    const part = (role: string, first: number, step: number) => {
      const bytes: number[] = [];
      for (let row = first; row < experts * outputs; row += step)
        for (let at = row * inputs; at < (row + 1) * inputs; at += 32) {
          bytes.push(scales[at / 32]!);
          for (let i = 0; i < 16; i++) bytes.push(codeAt(at + i) | (codeAt(at + 16 + i) << 4));
        }
      return {
        name: `ffn_${role}_exps.weight`,
        shape: [experts, outputs / step, inputs],
        values: tensor.values,
        blocks: { type: 'MXFP4' as const, bytes: Uint8Array.from(bytes) },
      };
    };
    return name.endsWith('down_proj') ? [part('down', 0, 1)] : [part('gate', 0, 2), part('up', 1, 2)];
  },
};

/** Two folders: experts in MXFP4, and their values as floats `[experts, inputs, outputs]`. */
async function writeFolders(): Promise<{ packed: string; floats: string }> {
  const packed: RawTensor[] = [];
  const floats: RawTensor[] = [];
  const f32 = (name: string, shape: readonly number[], values: Float32Array): RawTensor => ({
    name,
    type: 'F32',
    shape,
    bytes: new Uint8Array(values.buffer),
  });
  for (const [name, [stored, scale, offset]] of Object.entries(golden.tensors)) {
    const shape = sizeOf(name, stored);
    const count = shape.reduce((product, size) => product * size, 1);
    if (shape.length === 3) {
      const [experts, inputs, outputs] = shape as [number, number, number];
      const { blocks, scales } = codesOf(name.replace(/^model\.layers\.\d+\./, ''), count);
      const values = new Float32Array(count);
      for (let at = 0; at < count; at++) {
        const code = (blocks[at >> 1]! >> (4 * (at & 1))) & 15;
        const value = FP4[code & 7]! * (code & 8 ? -1 : 1) * 2 ** (scales[at >> 5]! - 127);
        const [row, input] = [Math.floor(at / inputs), at % inputs];
        const [expert, output] = [Math.floor(row / outputs), row % outputs];
        values[(expert * inputs + input) * outputs + output] = value;
      }
      const rows = [experts, outputs, inputs / 32];
      packed.push({ name: `${name}_blocks`, type: 'U8', shape: [...rows, 16], bytes: blocks });
      packed.push({ name: `${name}_scales`, type: 'U8', shape: rows, bytes: scales });
      floats.push(f32(name, shape, values));
      continue;
    }
    const values = new Float32Array(count);
    fillSeeded(values, { seed: golden.seed, name, start: 0, scale, offset });
    packed.push(f32(name, shape, values));
    floats.push(f32(name, shape, values));
  }
  const write = async (kind: string, tensors: readonly RawTensor[], json: object) => {
    const place = join(folder, kind);
    await mkdir(place, { recursive: true });
    const { tokenizer, tokenizerConfig } = tinyTokenizerFiles();
    const files = { config: json, tokenizer, tokenizer_config: tokenizerConfig };
    for (const [name, content] of Object.entries(files))
      await writeFile(join(place, `${name}.json`), JSON.stringify(content));
    await writeRawSafetensors(join(place, 'model.safetensors'), tensors);
    return place;
  };
  const quantised = { ...config, quantization_config: { quant_method: 'mxfp4' } };
  return { packed: await write('packed', packed, quantised), floats: await write('floats', floats, config) };
}

/** The model as a GGUF file. */
function writeGguf({ tensors, ...rest }: GoldenCase): Promise<string> {
  const sized = Object.entries(tensors).map(
    ([name, [shape, ...values]]) => [name, [sizeOf(name, shape), ...values]] as [string, GoldenTensor],
  );
  return writeFamilyGguf(folder, { ...rest, config, tensors: Object.fromEntries(sized) }, filePlan);
}

async function logitsOf(model: string): Promise<Float32Array[]> {
  const session = await SlotsSession.open(model, { capacity: 64 });
  const rows = await session.run([golden.prompts[1]!.tokens], [0]);
  await session.close();
  return rows;
}

it('is the model of its values in floats bit for bit, and kept exactly in 5 bits', async () => {
  const { packed, floats } = await writeFolders();
  const build = async (
    sourceDir: string,
    precision: 'f32' | 'file',
    onMatrix?: (matrix: WrittenMatrix) => void,
  ) => {
    const outputDir = join(folder, `${sourceDir === packed ? 'packed' : 'floats'}-${precision}`);
    return { outputDir, manifest: await buildModel({ sourceDir, outputDir, precision, onMatrix }) };
  };
  const [own, other] = [await build(packed, 'f32'), await build(floats, 'f32')];
  const expected = await logitsOf(other.outputDir);
  expectSameBits(await logitsOf(own.outputDir), expected);
  const file = await writeGguf(golden);
  const ofFile = join(folder, 'of-file');
  await buildModel({ sourceDir: file, outputDir: ofFile, precision: 'f32' });
  expectSameBits(await logitsOf(ofFile), expected);
  expect(own.manifest.parameterCount).toBe(other.manifest.parameterCount);
  const errors = new Map<string, number>();
  const { manifest } = await build(packed, 'file', ({ name, relativeError }) =>
    errors.set(name, relativeError),
  );
  expect(manifest.weightFormats).toMatchObject({ gateUp: { q5: 4 }, down: { q5: 4 }, router: { f32: 4 } });
  for (const [name, error] of errors) if (name.startsWith('model.experts')) expect(error, name).toBe(0);
  expect(errors.get('model.experts.3.down_proj.weight')).toBe(0);
  const kept = await buildModel({
    sourceDir: file,
    outputDir: join(folder, 'kept-of-file'),
    precision: 'file',
    onMatrix: ({ name, relativeError }) => expect(relativeError, name).toBe(0),
  });
  expect(kept.weightFormats).toMatchObject({ gateUp: { q5: 4 }, down: { q5: 4 }, router: { f32: 4 } });
});
