// The reader of quantised checkpoints against layers that Python packed: every value, and every value of the codes.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BLOCK_INPUTS, codeOffset } from '@ortler/kernels';
import { describe, expect, it } from 'vitest';
import {
  type LayerQuantisation,
  readQuantisationConfig,
} from '../src/quantised-checkpoint/quantisation-config.ts';
import { QuantisedCheckpoint } from '../src/quantised-checkpoint/quantised-checkpoint.ts';

interface Golden {
  readonly made_by: Readonly<Record<string, string>>;
  /** Of the kernels; null where none holds the values. */
  readonly format: string | null;
  /** What reports call it. */
  readonly type: string;
}

const FOLDER = join(import.meta.dirname, 'golden/quantised');
const SHAPE = [24, 64] as const;
const cases = readdirSync(FOLDER);

/** The whole layer, and what it must be. */
async function open(name: string) {
  const folder = join(FOLDER, name);
  const { golden } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { golden: Golden };
  const config = await readQuantisationConfig(folder);
  const checkpoint = await QuantisedCheckpoint.open(folder, config as LayerQuantisation);
  const expected = new Float32Array(SHAPE[0] * SHAPE[1]);
  await checkpoint.tensor('expected', SHAPE).readFloats(0, expected);
  return { golden, checkpoint, tensor: checkpoint.tensor('layer.weight', SHAPE), expected };
}

it('has cases, which say what made them', () => {
  expect(cases.length).toBeGreaterThan(9);
  for (const name of cases) {
    const { golden } = JSON.parse(readFileSync(join(FOLDER, name, 'config.json'), 'utf8'));
    expect(golden.made_by, name).toMatchObject({ python: expect.any(String), torch: expect.any(String) });
  }
});

describe.each(cases)('%s', name => {
  it('is dequantised bit for bit, in any rows', async () => {
    const { checkpoint, tensor, expected, golden } = await open(name);
    expect(tensor.quantised!.type).toBe(golden.type);
    const whole = new Float32Array(expected.length);
    await tensor.readFloats(0, whole);
    expect(new Uint32Array(whole.buffer)).toEqual(new Uint32Array(expected.buffer));
    const rows = new Float32Array(3 * SHAPE[1]);
    await tensor.readFloats(5 * SHAPE[1], rows);
    expect(rows).toEqual(expected.subarray(5 * SHAPE[1], 8 * SHAPE[1]));
    await checkpoint.close();
  });

  it('has codes and scales of the kernels that are the same values, or none', async () => {
    const { checkpoint, tensor, expected, golden } = await open(name);
    const codes = tensor.quantised!.codes;
    expect(codes?.format ?? null).toBe(golden.format);
    if (codes === undefined) return checkpoint.close();
    const rows = await codes.readRows(0, SHAPE[0]);
    const scales = new Float16Array(rows.scales.buffer);
    const values = Float32Array.from(rows.codes, (code, i) => {
      const at =
        Math.floor(i / SHAPE[1]) * (SHAPE[1] / BLOCK_INPUTS) + Math.floor((i % SHAPE[1]) / BLOCK_INPUTS);
      return scales[at]! * (code - codeOffset(codes.format));
    });
    expect(values).toEqual(expected);
    await checkpoint.close();
  });
});
