// Descriptions of models from headers, beside what the builder makes of them.

import { cp, mkdir, open, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { describeModel } from '../src/inspect/describe-model.ts';
import { estimateMemory } from '../src/inspect/estimate-memory.ts';
import { writeHeaders } from '../src/inspect/write-headers.ts';
import { writeOptimumModel } from '../src/testing/optimum-model.ts';
import { createTinyGguf } from '../src/testing/tiny-gguf.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

const GENAI = join(import.meta.dirname, 'golden', 'genai');
const folder = temporaryFolder();
let testCount = 0;
let source: string;
beforeEach(() => {
  source = join(folder, String(testCount++), 'source');
});

const SHAPE = { layerCount: 2, headCount: 4, kvHeadCount: 2, headSize: 16, hiddenSize: 64, vocabSize: 288 };
const KERNELS = { variant: 'kernels' } as const;

describe('a description', () => {
  it('of a checkpoint sums its tensors by role and type, whatever the number of files', async () => {
    await createTinyCheckpoint(source, { weightType: 'BF16', shardCount: 3 });
    const described = await describeModel(source, KERNELS);
    expect(described).toMatchObject({
      ...{ layout: 'safetensors', architecture: 'llama', shape: SHAPE, contextLength: 512, fault: undefined },
      ...{ parameterCount: 92_480, weightBytes: 2 * 92_480 },
    });
    expect(described.formats.map(({ role, type, tensorCount }) => [role, type, tensorCount])).toEqual([
      ['embedding', 'BF16', 1],
      ['attention', 'BF16', 8],
      ['mlp', 'BF16', 6],
      ['vectors', 'BF16', 5],
    ]);
  });

  it('of a GGUF file names the type of each role', async () => {
    await mkdir(source, { recursive: true });
    const typeOf = (name: string) => (name.includes('mlp') ? 'Q4_0' : 'Q8_0');
    const { file } = await createTinyGguf(source, { typeOf });
    const described = await describeModel(file, KERNELS);
    expect(described).toMatchObject({ layout: 'gguf', architecture: 'llama', shape: SHAPE });
    expect(described.formats.map(({ role, type }) => `${role} ${type}`)).toEqual([
      'embedding Q8_0',
      'attention Q8_0',
      'mlp Q4_0',
      'vectors F32',
    ]);
  });

  it('of an architecture that is not built has its tensors and the reason', async () => {
    await createTinyCheckpoint(source);
    await writeFile(join(source, 'config.json'), '{"model_type":"mamba"}');
    const described = await describeModel(source, KERNELS);
    expect(described).toMatchObject({
      architecture: 'mamba',
      shape: undefined,
      parameterCount: 92_480,
      fault: expect.stringContaining('"mamba" (Mamba), which would need'),
    });
    expect(estimateMemory(described, { ...KERNELS, kvType: undefined, contextLength: 16 })).toEqual([]);
  });

  it('of an export has its graphs for the device', async () => {
    const checkpoint = join(source, '..', 'checkpoint');
    await createTinyCheckpoint(checkpoint);
    for (const precision of ['f32', 'q4'] as const)
      await writeOptimumModel({ sourceDir: checkpoint, outputDir: source, precision, logits: 'all' });
    const described = await describeModel(source, KERNELS);
    expect(described).toMatchObject({
      layout: 'optimum',
      architecture: 'llama',
      shape: SHAPE,
      fault: undefined,
    });
    expect(described.graphs.map(({ precision, file }) => [precision, file])).toEqual([
      ['f32', join('onnx', 'model.onnx')],
      ['q4', join('onnx', 'model_q4.onnx')],
    ]);
    const [f32, q4] = estimateMemory(described, { ...KERNELS, kvType: undefined, contextLength: 100 });
    expect(f32).toMatchObject({ kvType: 'float32', cacheBytes: 2 * 2 * 2 * 16 * 4 * 100 });
    expect(q4!.weightBytes).toBeLessThan(f32!.weightBytes / 2);
  });

  it('of a folder of onnxruntime-genai has its graph', async () => {
    await cp(join(GENAI, 'llama-f32'), source, { recursive: true });
    const described = await describeModel(source, { variant: 'slots' });
    expect(described).toMatchObject({ layout: 'genai', graphs: [{ bytes: expect.any(Number) }] });
  });

  it('of a built folder is its manifest', async () => {
    const checkpoint = join(source, '..', 'checkpoint');
    await createTinyCheckpoint(checkpoint);
    await buildModel({ sourceDir: checkpoint, outputDir: source, precision: 'q4', kvType: 'int8' });
    const described = await describeModel(source, KERNELS);
    expect(described).toMatchObject({
      ...{ layout: 'built', architecture: 'llama', shape: SHAPE, parameterCount: 92_480 },
      built: { precision: 'q4', kvType: 'int8', variant: 'kernels' },
    });
    expect(described.formats.map(({ role }) => role)).toContain('gateUp');
    // Two layers, keys and values, two heads: 16 codes and a scale of four bytes for each token.
    expect(estimateMemory(described, { ...KERNELS, kvType: undefined, contextLength: 32 })).toMatchObject([
      { precision: 'q4', kvType: 'int8', cacheBytes: 8 * 20 * 32 },
    ]);
  });

  it('of a LoRA adapter, and of nothing, is refused', async () => {
    await mkdir(source, { recursive: true });
    await writeFile(join(source, 'adapter_config.json'), '{}');
    await expect(describeModel(source, KERNELS)).rejects.toThrow('is a LoRA adapter');
    await expect(describeModel(join(source, 'no'), KERNELS)).rejects.toThrow('no does not exist');
  });
});

describe('the estimate', () => {
  const builtBytes = async (sourceDir: string, options: Partial<Parameters<typeof buildModel>[0]>) => {
    const outputDir = join(source, '..', `built-${options.precision}`);
    await buildModel({ sourceDir, outputDir, precision: 'f32', ...options });
    return (await stat(join(outputDir, 'model.onnx.data'))).size;
  };

  it.each(['kernels', 'slots', 'paged'] as const)('is the size of a build for %s', async variant => {
    // Few positions, because rotary tables are not estimated.
    const config = {
      hidden_size: 128,
      intermediate_size: 256,
      head_dim: 32,
      vocab_size: 1_024,
      max_position_embeddings: 16,
    };
    await createTinyCheckpoint(source, { config });
    const described = await describeModel(source, { variant });
    const estimates = estimateMemory(described, { variant, kvType: undefined, contextLength: 16 });
    expect(estimates.length).toBe(3);
    for (const { precision, weightBytes } of estimates) {
      const bytes = await builtBytes(source, { variant, precision });
      // Of q4 it is one for normally distributed weights; tensors are aligned, which counts in small models.
      const tolerance = precision === 'q4' && variant === 'kernels' ? 0.2 : 0.06;
      expect(Math.abs(weightBytes / bytes - 1), `${precision}: ${weightBytes}, is ${bytes}`).toBeLessThan(
        tolerance,
      );
    }
  });

  it('of a quantised file has the precision of its own values', async () => {
    await mkdir(source, { recursive: true });
    const config = {
      hidden_size: 256,
      intermediate_size: 512,
      head_dim: 64,
      vocab_size: 1_024,
      max_position_embeddings: 16,
    };
    const { file } = await createTinyGguf(source, { typeOf: () => 'Q4_K', config });
    const described = await describeModel(file, KERNELS);
    const estimates = estimateMemory(described, { ...KERNELS, kvType: undefined, contextLength: 16 });
    const { weightBytes } = estimates.find(({ precision }) => precision === 'file')!;
    expect(weightBytes / (await builtBytes(file, { precision: 'file' }))).toBeCloseTo(1, 1);
  });
});

describe('headers', () => {
  /** Writes the headers of all files of `from` and counts the bytes that this took. */
  const writeFrom = async (from: string) => {
    const entries = await readdir(from, { recursive: true, withFileTypes: true });
    const files: { path: string; size: number }[] = [];
    for (const entry of entries.filter(found => found.isFile())) {
      const path = join(entry.parentPath, entry.name);
      files.push({ path: relative(from, path).split(sep).join('/'), size: (await stat(path)).size });
    }
    let readBytes = 0;
    const empty = await writeHeaders(source, {
      files,
      async read(path, begin, end) {
        readBytes += end - begin;
        const file = await open(join(from, path));
        const { buffer, bytesRead } = await file.read(new Uint8Array(end - begin), 0, end - begin, begin);
        await file.close();
        return buffer.subarray(0, bytesRead);
      },
    });
    return { empty, readBytes, totalBytes: files.reduce((sum, { size }) => sum + size, 0) };
  };
  const LARGE = { hidden_size: 256, intermediate_size: 2_048, head_dim: 64, vocab_size: 2_560 };

  it('of a checkpoint in shards describe it as its files do', async () => {
    const original = join(source, '..', 'original');
    await createTinyCheckpoint(original, { shardCount: 2, config: LARGE });
    const { readBytes, totalBytes } = await writeFrom(original);
    expect(await describeModel(source, KERNELS)).toEqual(await describeModel(original, KERNELS));
    expect(readBytes).toBeLessThan(totalBytes / 10);
  });

  it('of a GGUF file describe it as the file does, with a header of several requests and rotary factors', async () => {
    const original = join(source, '..', 'original');
    await mkdir(original, { recursive: true });
    const factors = new Float32Array(32).fill(2);
    const { file } = await createTinyGguf(original, {
      typeOf: () => 'Q4_0',
      config: LARGE,
      metadata: { 'general.description': 'x'.repeat(3_000_000) },
      extraTensors: [
        { name: 'rope_freqs.weight', type: 'F32', dimensions: [32], bytes: new Uint8Array(factors.buffer) },
      ],
    });
    await mkdir(join(source, '..', 'gguf'));
    await rename(file, join(source, '..', 'gguf', 'model.gguf'));
    await writeFrom(join(source, '..', 'gguf'));
    const headers = await describeModel(join(source, 'model.gguf'), KERNELS);
    expect(headers).toEqual(await describeModel(join(source, '..', 'gguf', 'model.gguf'), KERNELS));
    expect(headers.fault).toBeUndefined();
  });

  it('of an export have its small graph, and of a large one its size', async () => {
    const checkpoint = join(source, '..', 'checkpoint');
    const original = join(source, '..', 'original');
    await createTinyCheckpoint(checkpoint);
    const options = { sourceDir: checkpoint, outputDir: original, logits: 'all' } as const;
    await writeOptimumModel({ ...options, precision: 'f32' });
    await writeFrom(original);
    expect(await describeModel(source, KERNELS)).toMatchObject({ parameterCount: expect.any(Number) });
    const graph = join(source, 'onnx', 'model.onnx');
    const described = await describeModel(source, { ...KERNELS, emptyFiles: new Set([graph]) });
    expect(described).toMatchObject({ architecture: 'llama', parameterCount: undefined, fault: undefined });
    expect(described.graphs).toMatchObject([{ precision: 'f32', bytes: expect.any(Number) }]);
  });

  it('that are damaged end with the fault of their reader', async () => {
    const original = join(source, '..', 'original');
    await mkdir(original, { recursive: true });
    await writeFile(join(original, 'model.gguf'), Buffer.alloc(600_000, 'GGUF'));
    await writeFrom(original);
    await expect(describeModel(join(source, 'model.gguf'), KERNELS)).rejects.toThrow(
      /version \d+ is not read/,
    );
  });
});
