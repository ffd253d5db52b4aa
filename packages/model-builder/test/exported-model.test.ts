// ONNX exports of other programs: their model folders, and refusals.

import { cp, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import { type FoundGraph, type FoundNode, readGraph } from '@ortler/onnx';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { ensureModel } from '../src/ensure-model.ts';
import { checkExport, type ExportToCheck } from '../src/exported/check-export.ts';
import { describeModel } from '../src/inspect/describe-model.ts';
import { writeOptimumModel } from '../src/testing/optimum-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const checkpoint = join(folder, 'checkpoint');
const original = join(folder, 'original');
let testCount = 0;
let source: string;
let cacheDir: string;

beforeAll(async () => {
  await createTinyCheckpoint(checkpoint);
  for (const precision of ['f32', 'q4'] as const)
    await writeOptimumModel({ sourceDir: checkpoint, outputDir: original, precision, logits: 'all' });
});

beforeEach(async () => {
  const own = join(folder, String(testCount++));
  source = join(own, 'source');
  cacheDir = join(own, 'cache');
  await cp(original, source, { recursive: true });
});

const graphFile = (name = 'model.onnx') => join(source, 'onnx', name);

describe('an exported folder', () => {
  it('becomes a model folder that names its graph, with copies of the small files', async () => {
    const path = await ensureModel({ sourceDir: source, cacheDir, precision: 'f32', variant: 'paged' });
    expect(JSON.parse(await readFile(join(path, MANIFEST_FILE), 'utf8'))).toMatchObject({
      ...{ variant: 'slots', precision: 'f32', inputConvention: 'mask', graphFile: graphFile() },
      ...{ modelType: 'llama', layerCount: 2, headCount: 4, kvHeadCount: 2, headSize: 16 },
      ...{ hiddenSize: 64, vocabSize: 288, contextLength: 512, kvType: 'float32' },
    });
    const tokenizer = 'tokenizer.json';
    expect(await readFile(join(path, tokenizer))).toEqual(await readFile(join(source, tokenizer)));
  });

  it('in float16 is for a GPU, where it is preferred to float32', async () => {
    const options = { sourceDir: checkpoint, outputDir: source, precision: 'q4', logits: 'all' } as const;
    await writeOptimumModel({ ...options, halves: 'logits too' });
    const manifestOf = async (variant: 'slots' | 'paged') => {
      const path = await ensureModel({ sourceDir: source, cacheDir, precision: 'q4', variant });
      return JSON.parse(await readFile(join(path, MANIFEST_FILE), 'utf8'));
    };
    const half = { kvType: 'float16', logitsType: 'float16', graphFile: graphFile('model_q4f16.onnx') };
    expect(await manifestOf('paged')).toMatchObject(half);
    const single = await manifestOf('slots');
    expect(single).toMatchObject({ kvType: 'float32', graphFile: graphFile('model_q4.onnx') });
    expect(single).not.toHaveProperty('logitsType');
  });

  it('has about as many parameters in 4-bit blocks as in float32', async () => {
    const counts: number[] = [];
    for (const precision of ['f32', 'q4'] as const) {
      const path = await ensureModel({ sourceDir: source, cacheDir, precision });
      counts.push(JSON.parse(await readFile(join(path, MANIFEST_FILE), 'utf8')).parameterCount);
    }
    // Rotary tables and the table of embeddings make the difference.
    expect(counts[0]).toBeGreaterThan(92_480);
    expect(counts[0]).toBeLessThan(120_000);
    expect(counts[1]! / counts[0]!).toBeCloseTo(1, 0);
  });

  it('is the same model folder again until a file of it changes or it is moved', async () => {
    const ensure = (sourceDir = source) => ensureModel({ sourceDir, cacheDir, precision: 'f32' });
    const first = await ensure();
    expect(await ensure()).toBe(first);
    await rename(source, `${source}-moved`);
    expect(await ensure(`${source}-moved`)).not.toBe(first);
    await rename(`${source}-moved`, source);
    const data = graphFile('model.onnx_data');
    const bytes = await readFile(data);
    bytes[1_000]! ^= 1;
    await writeFile(data, bytes);
    expect(await ensure()).not.toBe(first);
  });

  it('is made again when a copy in the cache was damaged', async () => {
    const ensure = () => ensureModel({ sourceDir: source, cacheDir, precision: 'f32' });
    const path = await ensure();
    await truncate(join(path, 'tokenizer.json'), 5);
    expect(await ensure()).toBe(path);
    expect(await readFile(join(path, 'tokenizer.json'))).toEqual(
      await readFile(join(source, 'tokenizer.json')),
    );
  });

  it('is built from its own weights where it has some', async () => {
    await cp(join(checkpoint, 'model.safetensors'), join(source, 'model.safetensors'));
    const path = await ensureModel({ sourceDir: source, cacheDir, precision: 'f32' });
    expect(JSON.parse(await readFile(join(path, MANIFEST_FILE), 'utf8'))).toMatchObject({
      graphFile: 'model.onnx',
    });
  });
});

describe('an exported folder that cannot run', () => {
  const refusal = (precision: 'f32' | 'q8' | 'f16' = 'f32', adapterDir?: string) =>
    expect(ensureModel({ sourceDir: source, cacheDir, precision, adapterDir })).rejects;

  it.each(['q8', 'f16'] as const)('names the precisions that it has when it has no %s', async precision => {
    await refusal(precision).toMatchObject({
      code: 'unsupported',
      message: `${join(source, 'onnx')} has no graph of precision ${precision}; it has model.onnx, model_q4.onnx: choose the precision f32 or q4`,
    });
  });

  it('names the file names that could run when it has none', async () => {
    await rm(graphFile('model_q4.onnx'));
    await rename(graphFile(), graphFile('decoder.onnx'));
    await refusal().toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/decoder\.onnx: none of them can run/),
    });
  });

  it('with float16 graphs only is refused on the CPU, because they need a GPU', async () => {
    await rename(graphFile('model_q4.onnx'), graphFile('model_q4f16.onnx'));
    await rm(graphFile());
    await refusal().toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(
        /it has model_q4f16\.onnx: none of them can run on the CPU: it must be model\.onnx, model_q8\.onnx or model_q4\.onnx/,
      ),
    });
  });

  it('needs no build, and the refusal names the command that serves it', async () => {
    const build = buildModel({ sourceDir: source, outputDir: join(cacheDir, 'built'), precision: 'f32' });
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(
        /exported to ONNX .*onnx\/model\.onnx, onnx\/model_q4\.onnx.* needs no build: .*ortler serve --models/,
      ),
    });
  });

  it('takes no adapter', async () => {
    await refusal('f32', checkpoint).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/exported by another/),
    });
  });

  it('is refused with the file that is missing', async () => {
    await rm(graphFile('model.onnx_data'));
    await refusal().toMatchObject({ code: 'source_invalid', file: graphFile('model.onnx_data') });
  });

  it.each(['model.onnx', 'model.onnx_data'])('is refused when its %s is a link to nothing', async name => {
    await rm(graphFile(name));
    await symlink(join(folder, 'gone'), graphFile(name));
    await refusal().toMatchObject({ code: 'source_invalid', file: graphFile(name) });
  });

  it.each([0, 1, 100, 3_000])('is refused when %i bytes are left of its graph', async length => {
    await truncate(graphFile(), length);
    await refusal().toMatchObject({
      code: 'source_invalid',
      message: expect.stringMatching(/is not an ONNX model/),
    });
  });

  it.each<[string, (data: string) => Promise<void>, RegExp]>([
    [
      'a pointer of Git LFS',
      data => writeFile(data, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n'),
      /is a pointer of Git LFS, not the weights: fetch them with "git lfs pull"$/,
    ],
    ['cut', data => truncate(data, 5_000), /is truncated: the graph names .+ it ends at byte 5000$/],
    [
      'a folder',
      async data => {
        await rm(data);
        await mkdir(data);
      },
      /is not a file$/,
    ],
  ])('is refused when its data file is %s, by a description too', async (_, spoil, fault) => {
    const file = graphFile('model.onnx_data');
    await spoil(file);
    await refusal().toMatchObject({ file, message: expect.stringMatching(fault) });
    const described = await describeModel(source, { variant: 'kernels' });
    expect(described.fault).toMatch(fault);
    expect(described.fault).toContain(file);
  });

  it('is refused when its graph is something else', async () => {
    await writeFile(graphFile(), 'version https://git-lfs.github.com/spec/v1\nsize 12345\n');
    await refusal().toMatchObject({ code: 'source_invalid', file: graphFile() });
  });

  it('is refused with the key that config.json lacks', async () => {
    const file = join(source, 'config.json');
    const { max_position_embeddings, ...config } = JSON.parse(await readFile(file, 'utf8'));
    expect(max_position_embeddings).toBe(512);
    await writeFile(file, JSON.stringify(config));
    await refusal().toMatchObject({ code: 'config_invalid', file, key: 'max_position_embeddings' });
  });

  it('is refused with logits of the last position only', async () => {
    await rm(source, { recursive: true });
    await writeOptimumModel({ sourceDir: checkpoint, outputDir: source, precision: 'f32' });
    await refusal().toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/logits of shape \[batch_size, 1, 288\]/),
    });
  });
});

describe('a graph', () => {
  const isAttention = ({ opType }: FoundNode) => opType === 'GroupQueryAttention';
  const withAttention = (graph: FoundGraph, change: (node: FoundNode) => Partial<FoundNode>): FoundGraph => ({
    ...graph,
    nodes: graph.nodes.map(node => (isAttention(node) ? { ...node, ...change(node) } : node)),
  });
  const withInputs = (graph: FoundGraph, change: object): FoundGraph => ({
    ...graph,
    inputs: graph.inputs.map(input => (input.name.endsWith('.key') ? { ...input, ...change } : input)),
  });
  const halfCache = ({ name }: { readonly name: string }) =>
    name.startsWith('past_key_values') ? { onnxType: 10 } : {};
  const withOutput = (graph: FoundGraph, change: object): FoundGraph => ({
    ...graph,
    outputs: graph.outputs.map(output => (output.name === 'logits' ? { ...output, ...change } : output)),
  });
  const shapeOf = (name: string): FoundNode => ({
    ...{ path: '/shape', opType: 'Shape', domain: '', integers: new Map() },
    ...{ inputs: [name], outputs: ['shape'] },
  });
  /** A graph whose first attention gets queries that an operator makes of the mask. */
  const withMask = (graph: FoundGraph, opType: string): FoundGraph => {
    const changed = withAttention(graph, ({ inputs }) => ({ inputs: inputs.with(0, 'positioned') }));
    const maker = { ...shapeOf('attention_mask'), opType, outputs: ['positioned'] };
    return { ...changed, nodes: [maker, ...changed.nodes] };
  };
  const toCheck = (graph: FoundGraph, contextLength: number): ExportToCheck => ({
    graphFile: 'model.onnx',
    layout: 'Optimum',
    graph,
    settings: {
      configFile: 'config.json',
      config: { modelType: 'llama', hiddenSize: 64, vocabSize: 288, contextLength },
      repeated: undefined,
      windowSize: undefined,
      cpuChoice: 'model.onnx, model_q8.onnx or model_q4.onnx',
    },
    variant: 'slots',
  });
  const without = (graph: FoundGraph, name: string): FoundGraph => ({
    ...graph,
    inputs: graph.inputs.filter(input => input.name !== name),
  });

  it.each<[string, (graph: FoundGraph) => FoundGraph, RegExp]>([
    [
      'whose cache grows by copying',
      graph => withAttention(graph, () => ({ opType: 'Concat', domain: '' })),
      /cache of layer 0 with Concat; only graphs with GroupQueryAttention, which updates it in place, are run/,
    ],
    [
      'whose caches are not its outputs',
      graph => withAttention(graph, ({ outputs }) => ({ outputs: [outputs[0]!, 'a', 'b'] })),
      /layer 0 whose caches are not the graph's inputs and outputs/,
    ],
    [
      'that does not look at the mask',
      graph => withAttention(graph, ({ inputs }) => ({ inputs: inputs.with(5, 'input_ids') })),
      /lengths do not follow from "attention_mask"/,
    ],
    [
      'that computes queries from the mask',
      graph => withMask(graph, 'CumSum'),
      /computes "positioned" from "attention_mask", from which only the lengths/,
    ],
    [
      'that looks at the shape of its cache',
      graph => ({ ...graph, nodes: [...graph.nodes, shapeOf('past_key_values.1.value')] }),
      /cache of layer 1 with GroupQueryAttention and Shape/,
    ],
    [
      'that chooses its rotary tables by the mask',
      graph => {
        const changed = withAttention(graph, ({ inputs }) => ({ inputs: inputs.with(7, 'shape') }));
        return { ...changed, nodes: [shapeOf('attention_mask'), ...changed.nodes] };
      },
      /\(layout of Optimum\) chooses its rotary tables by "attention_mask" \(LongRoPE\)/,
    ],
    [
      'that keeps only a window in its cache',
      graph => withAttention(graph, () => ({ integers: new Map([['sliding_window_cache', 1]]) })),
      /last tokens of a sliding window in its cache of layer 0.*windowed_kv_cache=false/,
    ],
    [
      'that normalises queries and keys in its attention',
      graph =>
        withAttention(graph, ({ inputs }) => ({
          inputs: [...inputs, ...Array<string>(16 - inputs.length).fill('')]
            .with(14, 'norm')
            .with(15, 'norm'),
        })),
      /normalises queries and keys in GroupQueryAttention, which needs a GPU; on the CPU use model\.onnx/,
    ],
    [
      'with an unknown input',
      graph => ({ ...graph, inputs: [...graph.inputs, { ...graph.inputs[0]!, name: 'use_cache_branch' }] }),
      /has an input "use_cache_branch"; allowed: input_ids, attention_mask, position_ids and past/,
    ],
    ['without a mask', graph => without(graph, 'attention_mask'), /has no input "attention_mask"/],
    ['without a cache', graph => without(graph, 'past_key_values.0.key'), /no input "past_key_values.0.key"/],
    ['with half a cache', graph => without(graph, 'past_key_values.1.value'), /"past_key_values.1.value"/],
    [
      'in float16, for the CPU,',
      graph => ({ ...graph, inputs: graph.inputs.map(input => ({ ...input, ...halfCache(input) })) }),
      /float16, which need a GPU; on the CPU use model.onnx, model_q8.onnx or model_q4.onnx/,
    ],
    [
      'in bfloat16',
      graph => withOutput(graph, { onnxType: 16 }),
      /logits that are neither float32 nor float16/,
    ],
    [
      'with caches of two types',
      graph => withInputs(graph, { onnxType: 10 }),
      /cache .* of another shape or type/,
    ],
    [
      'with another cache shape',
      graph => withInputs(graph, { dims: [1, 2, 3] }),
      /of another shape|of shape/,
    ],
    ['without logits', graph => ({ ...graph, outputs: [] }), /has no output "logits"/],
  ])('%s is refused', (_, change, message) => {
    const graph = change(readGraph(join(original, 'onnx', 'model.onnx')));
    expect(() => checkExport(toCheck(graph, 512))).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringMatching(message) }),
    );
  });

  it('has no longer context than its rotary tables', () => {
    const graph = readGraph(join(original, 'onnx', 'model.onnx'));
    expect(checkExport(toCheck(graph, 4_096)).contextLength).toBe(512);
  });
});
