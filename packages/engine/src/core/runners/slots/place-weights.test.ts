import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeWeights } from './place-weights.ts';

const FILE = 'model.onnx.data';
const MANIFEST = { variant: 'kernels', graphFile: 'model.onnx' } as const;
const EXPERTS = { count: 8, chosen: 2, weightBytes: 800, activeParameterCount: 1 };

describe('the weights of a graph', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-place-'));
    await writeFile(join(folder, FILE), new Uint8Array(1000));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are read into memory up to half of what is available, all but rotary tables', async () => {
    for (const experts of [undefined, EXPERTS])
      expect(await placeWeights(folder, { ...MANIFEST, ...(experts && { experts }) }, 2000)).toEqual({
        weightsFile: FILE,
        mappedWeights: ['model.rotary'],
      });
  });

  it('stay mapped where memory is shorter, and the note says so', async () => {
    const found = await placeWeights(folder, MANIFEST, 1999);
    expect(found).toEqual({ memoryNote: expect.stringContaining('stay in their file') });
  });

  it('are in memory without the experts where that suffices', async () => {
    const found = await placeWeights(folder, { ...MANIFEST, experts: EXPERTS }, 1999);
    expect(found).toEqual({
      weightsFile: FILE,
      mappedWeights: ['model.rotary', 'model.experts'],
      memoryNote: expect.stringContaining('The experts, 0.0 GB of 0.0 GB of weights, stay in their file'),
    });
    expect(await placeWeights(folder, { ...MANIFEST, experts: EXPERTS }, 399)).toEqual({
      memoryNote: expect.stringContaining('The weights'),
    });
  });

  it('are where ONNX Runtime has them in graphs of its own operators', async () => {
    expect(await placeWeights(folder, { ...MANIFEST, variant: 'slots' }, 10)).toEqual({});
  });
});
