import { describe, expect, it } from 'vitest';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { chooseFormat, chooseFormats, errorBudget } from './choose-formats.ts';
import { countFormats } from './count-formats.ts';
import { decoderMatrices } from './decoder-matrices.ts';

const COUNT = 512 * 32;

/** Normally distributed. */
function normal(name: string): Float32Array {
  const uniform = new Float32Array(2 * COUNT);
  fillSeeded(uniform, { seed: 1, name, scale: 0.5, offset: 0.5 });
  return Float32Array.from({ length: COUNT }, (_, i) => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform[2 * i]!));
    return 0.02 * radius * Math.cos(2 * Math.PI * uniform[2 * i + 1]!);
  });
}

/** Of blocks with codes of this many bits, of which each block has the lowest and the highest. */
function onGrid(bits: number, first: number): Float32Array {
  const most = 2 ** bits - 1;
  return Float32Array.from({ length: COUNT }, (_, i) => {
    const place = i % 32;
    const code = place < 2 ? place * most : (i * 7 + (i >> 5)) % (most + 1);
    return 2 ** -6 * code + first;
  });
}

const withOutliers = (values: Float32Array, factor: number) =>
  values.map((value, i) => (i % 32 === 5 ? value * factor : value));

describe('the format of a matrix', () => {
  const small = (role: Parameters<typeof errorBudget>[0]) => errorBudget(role, 576);

  it('is exact in 4 bits where the weights come from such blocks, whatever the budget', () => {
    expect(chooseFormat(onGrid(4, -8 * 2 ** -6), 0.01)).toBe('q4');
    expect(chooseFormat(onGrid(4, -0.1), 0.01)).toBe('q4-min');
    expect(chooseFormat(onGrid(5, -16 * 2 ** -6), 0.01)).toBe('q5');
    expect(chooseFormat(onGrid(5, -0.1), 0.01)).toBe('q5-min');
  });

  it('has more bits in a small model than in a large one for normally distributed weights', () => {
    const values = normal('a');
    expect(chooseFormat(values, small('gateUp'))).toBe('q5');
    expect(chooseFormat(values, small('down'))).toBe('q6');
    expect(chooseFormat(values, errorBudget('gateUp', 2048))).toBe('q4-min');
    expect(chooseFormat(values, errorBudget('down', 2048))).toBe('q5');
    expect(chooseFormat(values, errorBudget('down', 4096))).toBe('q4-min');
  });

  it('has more bits for outliers', () => {
    const values = normal('b');
    expect(chooseFormat(values, 0.08)).toBe('q4-min');
    expect(chooseFormat(withOutliers(values, 12), 0.08)).toBe('q5-min');
    expect(chooseFormat(values, small('query'))).toBe('q5');
    expect(chooseFormat(withOutliers(values, 12), small('query'))).toBe('q8');
  });

  it('is never 4 bits without a minimum for their size alone', () => {
    expect(chooseFormat(normal('c'), 0.5)).toBe('q4-min');
  });

  it('is the smallest one for zeros', () => {
    expect(chooseFormat(new Float32Array(64), 0.03)).toBe('q4');
  });
});

it('budgets grow with the model, but not beyond the sizes that were measured, nor for the table', () => {
  expect(errorBudget('down', 64)).toBe(errorBudget('down', 576));
  expect(errorBudget('down', 2304)).toBeCloseTo(2 * errorBudget('down', 576));
  expect(errorBudget('down', 8192)).toBe(errorBudget('down', 4096));
  expect(errorBudget('table', 4096)).toBe(errorBudget('table', 576));
});

describe('the formats of a model', () => {
  const config = parseDecoderConfig('config.json', {
    model_type: 'llama',
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    vocab_size: 320,
    max_position_embeddings: 64,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: false,
  });
  const noise = normal('model');
  const exact = onGrid(4, -0.1);

  /** The down matrix of layer 1 and the output matrix are normally distributed; all others are on a 4-bit grid. */
  const checkpoint: Pick<WeightSource, 'has' | 'tensor'> = {
    has: () => true,
    tensor: (name, shape) => ({
      name,
      shape,
      async readFloats(from, target) {
        const source = /layers\.1\.mlp\.down|lm_head/.test(name) ? noise : exact;
        for (let i = 0; i < target.length; i++) target[i] = source[(from + i) % COUNT]!;
      },
    }),
  };
  const choose = (signal?: AbortSignal) =>
    chooseFormats(new DecoderWeights(checkpoint as WeightSource, config), config, signal);

  it('are chosen matrix by matrix, and the same at every build', async () => {
    const formats = await choose();
    expect([...formats.keys()]).toEqual([...decoderMatrices(config)].map(({ name }) => name));
    expect(formats.get('model.layers.0.mlp.down_proj.weight')).toBe('q4-min');
    expect(formats.get('model.layers.1.mlp.down_proj.weight')).toBe('q6');
    expect(await choose()).toEqual(formats);
  });

  it('are counted by role for the manifest', async () => {
    expect(countFormats(config, await choose())).toEqual({
      table: { 'q4-min': 1, q6: 1 },
      query: { 'q4-min': 2 },
      key: { 'q4-min': 2 },
      value: { 'q4-min': 2 },
      attentionOutput: { 'q4-min': 2 },
      gateUp: { 'q4-min': 2 },
      down: { 'q4-min': 1, q6: 1 },
    });
  });

  it('are not chosen after an abort', async () => {
    await expect(choose(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });
});
