// The wide graph (W8A8) of `q4` builds against a float32 build of the dequantised 4-bit weights, and in turns with the
// weight-only graph on one KV cache: both are one model up to rounding.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE, type ModelManifest } from '@ortler/engine/graph-contract';
import { describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint, type TinyCheckpointOptions } from '../src/testing/tiny-model.ts';
import { QUANTISED_SHAPES, writeDequantised } from './dequantised-checkpoint.ts';
import { relativeError, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 64 }, (_, i) => (i * 37 + 11) % 256);

/**
 * Bound on the root mean square error from quantising weights and activations to 8 bits: two roundings per product, about
 * 0.5 % of a row each; two layers chain nine products.
 */
const ROOT_MEAN_SQUARE_BOUND = 0.04;
/** Bound on the effect of the order of sums alone, which may change the code of an activation. */
const SAME_GRAPH_BOUND = 5e-3;

async function build(from: string, to: string, precision: 'f32' | 'q4'): Promise<ModelManifest> {
  return buildModel({ sourceDir: join(folder, from), outputDir: join(folder, to), precision });
}

describe.each(QUANTISED_SHAPES)('the wide graph of $label', shape => {
  it('computes the model of the dequantised 4-bit weights, also in turns with the weight-only graph', async () => {
    const name = shape.label;
    await createTinyCheckpoint(join(folder, `${name} source`), shape);
    await writeDequantised(join(folder, `${name} codes`), shape, 4);
    const { wideGraphFile: graphFile } = await build(`${name} source`, `${name} q4`, 'q4');
    await build(`${name} codes`, `${name} f32`, 'f32');

    const open = (as: string, file?: string) =>
      SlotsSession.open(join(folder, `${name} ${as}`), file === undefined ? {} : { graphFile: file });
    const [exact, wide, single, narrow] = [
      await open('f32'),
      await open('q4', graphFile!),
      await open('q4', graphFile!),
      await open('q4'),
    ];
    const expected = await exact.run([prompt], [0]);
    const whole = await wide.run([prompt], [0]);
    const alone: Float32Array[] = [];
    for (const [position, token] of prompt.entries())
      alone.push(...(await single.run([[token]], [position])));
    // Ten tokens by one graph, ten by the other.
    const mixed: Float32Array[] = [];
    for (let start = 0; start < prompt.length; start += 10) {
      const [turn, other] = start % 20 === 0 ? [wide, narrow] : [narrow, wide];
      mixed.push(...(await turn.run([prompt.slice(start, start + 10)], [start])));
      other.copyCacheFrom(turn, 0);
    }

    const error = relativeError(whole, expected);
    expect(error).toBeLessThan(ROOT_MEAN_SQUARE_BOUND);
    // Makes sure that a quantised graph was run: no difference would mean the float32 one.
    expect(error).toBeGreaterThan(1e-4);
    expect(relativeError(mixed, expected)).toBeLessThan(ROOT_MEAN_SQUARE_BOUND);
    expect(relativeError(alone, whole)).toBeLessThan(SAME_GRAPH_BOUND);
    for (const session of [exact, wide, single, narrow]) await session.close();
  });
});

describe('a build with a wide graph', () => {
  const tiny = async (name: string, precision: 'f32' | 'q4', options: TinyCheckpointOptions = {}) => {
    await createTinyCheckpoint(join(folder, `${name} source`), options);
    return build(`${name} source`, name, precision);
  };

  it('stores shared tensors of both graphs once', async () => {
    await tiny('shared', 'q4');
    const weights = await stat(join(folder, 'shared', 'wide.onnx.data'));
    // Two layers without tables, norms, embedding and output matrix: integer codes, their scales, and gaps to whole pages.
    const codes = 2 * (64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 128);
    expect(weights.size).toBeLessThan(codes + 20 * 4096);
  });

  it('has none in float32, where it would only lose accuracy', async () => {
    const manifest = await tiny('plain', 'f32');
    expect(manifest.wideGraphFile).toBeUndefined();
    const written = await readFile(join(folder, 'plain', MANIFEST_FILE), 'utf8');
    expect(JSON.parse(written)).not.toHaveProperty('wideGraphFile');
  });
});
