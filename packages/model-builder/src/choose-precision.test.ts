import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { choosePrecision, explainPrecision } from './choose-precision.ts';

const MEBIBYTE = 1024 * 1024;

describe('choosePrecision', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-precision-'));
    await mkdir(join(folder, 'onnx'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A sparse file of that size. */
  async function write(name: string, mebibytes: number): Promise<void> {
    await writeFile(join(folder, name), '');
    await truncate(join(folder, name), mebibytes * MEBIBYTE);
  }
  const auto = (variant: 'slots' | 'paged' = 'slots') => choosePrecision('auto', folder, variant);

  it.each([
    ['slots', 256, 'f32'],
    ['paged', 256, 'f16'],
    ['slots', 257, 'q8'],
    ['slots', 4_097, 'q4'],
  ] as const)('takes a checkpoint for %s of %i MiB in %s', async (variant, size, expected) => {
    await write('model.safetensors', size);
    expect(await auto(variant)).toBe(expected);
  });

  it('chooses float32 for a small export, also on a GPU, and the fewest bits for a large one', async () => {
    await write('onnx/model.onnx', 1);
    await write('onnx/model.onnx_data', 511);
    await write('onnx/model_quantized.onnx', 150);
    expect(await auto('paged')).toBe('f32');
    await write('onnx/model.onnx_data', 512);
    expect(await auto()).toBe('q8');
    await write('onnx/model_q4.onnx', 80);
    expect(await auto()).toBe('q4');
  });

  it('chooses a float16 export on a GPU, and no W8A8 export there', async () => {
    await write('onnx/model_quantized.onnx', 150);
    await write('onnx/model_fp16.onnx', 300);
    expect(await auto('paged')).toBe('f16');
    expect(await auto()).toBe('q8');
    await write('onnx/model_q4f16.onnx', 80);
    expect(await auto('paged')).toBe('q4');
    expect(await auto()).toBe('q8');
  });

  it('leaves an export without a usable graph to the builder, which reports it', async () => {
    await write('onnx/model_fp16.onnx', 1);
    expect(await auto()).toBe('f32');
  });

  it('says why, with the limits of the device', async () => {
    await write('model.safetensors', 513);
    expect(await explainPrecision('auto', folder, 'paged')).toEqual({
      precision: 'q8',
      reason: 'the checkpoint has 513 MiB: up to 256 MiB stay f16, up to 4 GiB become q8, larger ones q4',
    });
    expect(await explainPrecision('q4', folder, 'paged')).toEqual({ precision: 'q4' });
  });

  it('keeps a precision that is given', async () => {
    await write('onnx/model.onnx', 1);
    expect(await choosePrecision('q4', folder, 'slots')).toBe('q4');
  });
});
