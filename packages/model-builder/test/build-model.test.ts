// The output folder of builds that succeed, fail or are aborted.

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cacheRowLength,
  defaultKvType,
  MANIFEST_FILE,
  pastName,
  VARIANT_KV_TYPES,
} from '@ortler/engine/graph-contract';
import { KERNELS_DOMAIN } from '@ortler/kernels';
import { ELEMENT_TYPES, readGraph } from '@ortler/onnx';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import type { BuildProgress } from '../src/build-options.ts';
import { activationBits } from '../src/kernels/weight-formats.ts';
import { createTinyCheckpoint, seededTensors } from '../src/testing/tiny-model.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const source = join(folder, 'source');
let outputCount = 0;

beforeAll(() => createTinyCheckpoint(source, { modelType: 'qwen3', seed: 3 }));

/** A folder of its own for an output, so that nothing else is beside it. */
async function newOutput(): Promise<{ parent: string; outputDir: string }> {
  const parent = join(folder, `output-${outputCount++}`);
  await mkdir(parent);
  return { parent, outputDir: join(parent, 'model') };
}

describe('a finished build', () => {
  it('holds the graph, the weights, the manifest and the companions, and nothing else', async () => {
    const { parent, outputDir } = await newOutput();
    await writeFile(join(source, 'special_tokens_map.json'), '{}');
    await writeFile(join(source, 'notes.txt'), 'not part of a model');
    const manifest = await buildModel({ sourceDir: source, outputDir, precision: 'q4' });
    expect((await readdir(outputDir)).toSorted()).toEqual([
      'config.json',
      'generation_config.json',
      'model.onnx',
      'model.onnx.data',
      MANIFEST_FILE,
      'special_tokens_map.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(await readdir(parent)).toEqual(['model']);
    expect(JSON.parse(await readFile(join(outputDir, MANIFEST_FILE), 'utf8'))).toEqual(manifest);
    const companion = await readFile(join(outputDir, 'tokenizer.json'));
    expect(companion).toEqual(await readFile(join(source, 'tokenizer.json')));
    expect(manifest).toMatchObject({
      variant: 'kernels',
      precision: 'q4',
      modelType: 'qwen3',
      graphFile: 'model.onnx',
      kvType: defaultKvType('kernels', 'q4'),
    });
  });

  it('of the paged variant has a graph for CUDA besides, where there are norms of heads, and the KV cache type in its manifest', async () => {
    const { outputDir } = await newOutput();
    const variant = 'paged';
    const manifest = await buildModel({ sourceDir: source, outputDir, precision: 'q4', variant });
    const graphs = (await readdir(outputDir)).filter(name => name.includes('.onnx'));
    expect(graphs.toSorted()).toEqual(['model.cuda.onnx', 'model.onnx', 'model.onnx.data']);
    const cudaGraphFile = 'model.cuda.onnx';
    expect(manifest).toMatchObject({ variant, precision: 'q4', kvType: 'float16', cudaGraphFile });
  });

  it.each([
    ['paged', 'f32', 'a "paged" graph has no precision f32; it has f16, q8, q4'],
    ['slots', 'f16', 'a "slots" graph has no precision f16; it has f32, q8, q4, file'],
    ['kernels', 'f16', 'a "kernels" graph has no precision f16; it has f32, q8, q4, file'],
  ] as const)('is refused for %s in %s', async (variant, precision, message) => {
    const { parent, outputDir } = await newOutput();
    const build = buildModel({ sourceDir: source, outputDir, precision, variant });
    await expect(build).rejects.toMatchObject({ code: 'unsupported', message });
    expect(await readdir(parent)).toEqual([]);
  });

  it('is refused for a longer context than the model has, before weights are written', async () => {
    const { parent, outputDir } = await newOutput();
    const stages = new Set<string>();
    const build = buildModel({
      sourceDir: source,
      outputDir,
      precision: 'f32',
      contextLength: 513,
      onProgress: ({ stage }) => stages.add(stage),
    });
    const message = 'the model has a context of 512 tokens; 513 are asked for';
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: `${join(source, 'config.json')}: ${message}`,
    });
    expect(stages).not.toContain('weights');
    expect(await readdir(parent)).toEqual([]);
  });

  it('of the paged variant keeps float activations, unless roundsActivations is set', async () => {
    const build = async (roundsActivations: boolean) => {
      const { outputDir } = await newOutput();
      const options = { sourceDir: source, outputDir, precision: 'q4', variant: 'paged' } as const;
      const { contentHash } = await buildModel({ ...options, roundsActivations });
      const products = readGraph(join(outputDir, 'model.onnx')).nodes.filter(
        ({ opType }) => opType === 'MatMulNBits',
      );
      expect(products.length).toBeGreaterThan(5);
      return { contentHash, levels: new Set(products.map(({ integers }) => integers.get('accuracy_level'))) };
    };
    const [given, rounded] = [await build(false), await build(true)];
    expect([given.levels, rounded.levels]).toEqual([new Set([0]), new Set([4])]);
    expect(rounded.contentHash).not.toBe(given.contentHash);
  });

  it.each([
    { variant: 'slots', precision: 'q8', blockSize: 32, roundsActivations: false, level: 4 },
    { variant: 'slots', precision: 'q4', blockSize: 32, roundsActivations: false, level: 4 },
    { variant: 'paged', precision: 'q4', blockSize: 32, roundsActivations: true, level: 4 },
  ] as const)(
    'of $variant in $precision has blocks of $blockSize and activations in 8 bits per block, in every product',
    async ({ variant, precision, blockSize, roundsActivations, level }) => {
      const { outputDir } = await newOutput();
      await buildModel({ sourceDir: source, outputDir, precision, variant, roundsActivations });
      const products = readGraph(join(outputDir, 'model.onnx')).nodes.filter(({ opType }) =>
        opType.includes('MatMul'),
      );
      // Two layers with four products each, more where they are kept apart for the provider to fuse, and the output matrix.
      expect(new Set(products.map(({ opType }) => opType))).toEqual(new Set(['MatMulNBits']));
      if (variant === 'paged') expect(products.length).toBeGreaterThan(9);
      else expect(products.length).toBe(9);
      for (const { path, integers } of products) {
        expect(integers.get('block_size')).toBe(blockSize);
        expect(integers.get('accuracy_level')).toBe(level);
        expect(integers.get('bits')).toBe(precision === 'q4' && path !== '/lm_head/MatMul' ? 4 : 8);
      }
    },
  );

  it.each(['f32', 'q8', 'q4'] as const)(
    'of %s has five operators of the kernels for each layer, and one table for tokens and logits',
    async precision => {
      const { outputDir } = await newOutput();
      const tied = join(outputDir, '..', 'tied');
      await createTinyCheckpoint(tied, { config: { tie_word_embeddings: true } });
      await buildModel({ sourceDir: tied, outputDir, precision, kvType: 'float32' });
      const { nodes, weights } = readGraph(join(outputDir, 'model.onnx'));
      const layer = ['Product', 'Attention', 'Product', 'Product', 'Product'];
      const own = nodes.filter(({ domain }) => domain === KERNELS_DOMAIN);
      expect(own.map(({ opType }) => opType)).toEqual(['Embedding', ...layer, ...layer, 'Product']);
      // The others select the rows of the last layer that get logits.
      const others = nodes.filter(({ domain }) => domain !== KERNELS_DOMAIN);
      expect(others.map(({ opType }) => opType)).toEqual(['Reshape', 'Gather', 'Reshape', 'Gather']);
      const [lookup, head] = [own[0]!.inputs[1]!, own.at(-1)!.inputs[1]!];
      expect(head).toBe(lookup);
      expect([...weights.keys()].filter(name => name.includes('embed_tokens'))).toEqual([lookup]);
      const activations = new Set(own.flatMap(({ integers }) => integers.get('activation_bits') ?? []));
      const bits = activationBits(precision, []);
      expect(activations).toEqual(new Set(bits === 8 ? [] : [bits]));
    },
  );

  it('of the kernels has attention for its type of cache', async () => {
    const operators: string[] = [];
    for (const kvType of VARIANT_KV_TYPES.kernels) {
      const { outputDir } = await newOutput();
      await buildModel({ sourceDir: source, outputDir, precision: 'q8', kvType });
      const { nodes, inputs } = readGraph(join(outputDir, 'model.onnx'));
      operators.push(...new Set(nodes.map(({ opType }) => opType).filter(type => /^Attention/.test(type))));
      const shape = { variant: 'kernels', kvType, headSize: 16 } as const;
      const cache = inputs.find(({ name }) => name === pastName(0, 'key'))!;
      expect(cache).toMatchObject({
        onnxType: ELEMENT_TYPES[kvType].onnxType,
        dims: ['batch', 2, expect.any(String), cacheRowLength(shape)],
      });
    }
    expect(operators).toEqual(['Attention', 'AttentionFloat16', 'AttentionInt8']);
  });

  it.each(['q8', 'q4'] as const)(
    'of %s for ONNX Runtime alone looks tokens up in the bytes of a tied output matrix',
    async precision => {
      const { outputDir } = await newOutput();
      const tied = join(outputDir, '..', 'tied');
      await createTinyCheckpoint(tied, { config: { tie_word_embeddings: true } });
      await buildModel({ sourceDir: tied, outputDir, precision, variant: 'slots' });
      const { nodes, weights } = readGraph(join(outputDir, 'model.onnx'));
      const inputsOf = (path: string) => nodes.find(node => node.path === path)!.inputs;
      const [, codes, scales] = inputsOf('/lm_head/MatMul');
      expect(inputsOf('/model/embed_tokens/codes/Gather')[0]).toBe(codes);
      expect(inputsOf('/model/embed_tokens/scales/Gather')[0]).toBe(scales);
      const { vocab_size: rows } = JSON.parse(await readFile(join(tied, 'config.json'), 'utf8'));
      const tables = [...weights.values()].filter(({ dims }) => dims[0] === rows);
      expect(tables.map(({ name }) => name)).toEqual([codes, scales]);
    },
  );

  it.each([
    { variant: 'paged', precision: 'f16' },
    { variant: 'slots', precision: 'q4' },
  ] as const)('is refused with rounded activations where nothing would change: %j', async kind => {
    const { outputDir } = await newOutput();
    const build = buildModel({ sourceDir: source, outputDir, ...kind, roundsActivations: true });
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/activations are rounded in graphs for GPUs of precision q8 or q4 only/),
    });
  });

  it.each([
    ['paged', 272, 'heads have 272 elements, and at most 256 are fast and right: not built as "paged"'],
    ['kernels', 656, 'heads of 656 elements are not built as "kernels", which has at most 640'],
  ] as const)(
    'is refused for heads that the attention of %s cannot compute',
    async (variant, size, message) => {
      const { parent, outputDir } = await newOutput();
      const wide = join(folder, `wide-${variant}`);
      await createTinyCheckpoint(wide, { config: { head_dim: size } });
      const options = { sourceDir: wide, outputDir, precision: 'q8', variant } as const;
      await expect(buildModel(options)).rejects.toMatchObject({
        code: 'unsupported',
        key: 'head_dim',
        message,
      });
      expect(await readdir(parent)).toEqual([]);
    },
  );

  it('has the same bytes every time', async () => {
    const outputs = [await newOutput(), await newOutput()];
    for (const { outputDir } of outputs) await buildModel({ sourceDir: source, outputDir, precision: 'q4' });
    for (const name of await readdir(outputs[0]!.outputDir)) {
      const [first, second] = await Promise.all(
        outputs.map(({ outputDir }) => readFile(join(outputDir, name))),
      );
      expect(first!.equals(second!), name).toBe(true);
    }
  });

  it('was reported from the first byte to the last in every stage', async () => {
    const { outputDir } = await newOutput();
    const seen: BuildProgress[] = [];
    const onProgress = (progress: BuildProgress) => seen.push(progress);
    await buildModel({ sourceDir: source, outputDir, precision: 'f32', onProgress });
    expect([...new Set(seen.map(({ stage }) => stage))]).toEqual(['hash', 'weights', 'finish']);
    for (const stage of ['hash', 'weights'] as const) {
      const steps = seen.filter(progress => progress.stage === stage);
      const done = steps.map(({ doneBytes }) => doneBytes);
      expect(done).toEqual(done.toSorted((a, b) => a - b));
      expect(done.at(-1)).toBe(steps[0]!.totalBytes);
    }
  });
});

describe('a build that cannot be finished leaves nothing behind', () => {
  it('when the weights are truncated', async () => {
    const { parent, outputDir } = await newOutput();
    const broken = join(folder, 'broken');
    await createTinyCheckpoint(broken);
    await truncate(join(broken, 'model.safetensors'), 100_000);
    await expect(buildModel({ sourceDir: broken, outputDir, precision: 'f32' })).rejects.toMatchObject({
      code: 'weights_corrupt',
      file: join(broken, 'model.safetensors'),
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('when a weight is too large for float16', async () => {
    const { parent, outputDir } = await newOutput();
    const large = join(folder, 'large');
    const config = await createTinyCheckpoint(large);
    const tensors = seededTensors(config, 1).map(tensor =>
      tensor.name === 'model.norm.weight'
        ? { ...tensor, fill: (target: Float32Array) => target.fill(1e6) }
        : tensor,
    );
    await writeSafetensors(join(large, 'model.safetensors'), 'F32', tensors);
    const options = { sourceDir: large, outputDir, precision: 'q8' } as const;
    await expect(buildModel({ ...options, variant: 'paged' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('model.norm.weight holds 1000000; float16 reaches 65504'),
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('when the weights are not those of config.json', async () => {
    const { parent, outputDir } = await newOutput();
    const other = join(folder, 'other');
    await createTinyCheckpoint(other);
    const config = JSON.parse(await readFile(join(other, 'config.json'), 'utf8'));
    await writeFile(join(other, 'config.json'), JSON.stringify({ ...config, num_hidden_layers: 3 }));
    await expect(buildModel({ sourceDir: other, outputDir, precision: 'f32' })).rejects.toMatchObject({
      code: 'tensor_missing',
      tensor: 'model.layers.2.input_layernorm.weight',
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('when the weights hold tensors that config.json does not imply', async () => {
    const { parent, outputDir } = await newOutput();
    const biased = join(folder, 'biased');
    await createTinyCheckpoint(biased, { config: { attention_bias: true } });
    const config = JSON.parse(await readFile(join(biased, 'config.json'), 'utf8'));
    await writeFile(join(biased, 'config.json'), JSON.stringify({ ...config, attention_bias: false }));
    await expect(buildModel({ sourceDir: biased, outputDir, precision: 'f32' })).rejects.toMatchObject({
      code: 'unsupported',
      tensor: 'model.layers.0.self_attn.k_proj.bias',
      file: join(biased, 'model.safetensors'),
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('when it is aborted while the weights are written', async () => {
    const { parent, outputDir } = await newOutput();
    const controller = new AbortController();
    const reason = new Error('stopped');
    const onProgress = ({ stage }: BuildProgress) => {
      if (stage === 'weights') controller.abort(reason);
    };
    const { signal } = controller;
    await expect(
      buildModel({ sourceDir: source, outputDir, precision: 'q4', onProgress, signal }),
    ).rejects.toBe(reason);
    expect(await readdir(parent)).toEqual([]);
  });

  it.each([
    ['heads', { num_attention_heads: 1e9 }, { tensor: 'model.layers.0.self_attn.q_proj.weight' }],
    ['layers', { num_hidden_layers: 9999 }, { tensor: 'model.layers.9998.input_layernorm.weight' }],
  ])('when config.json speaks of more %s than there are weights for', async (label, numbers, fault) => {
    const { parent, outputDir } = await newOutput();
    const huge = join(folder, `huge-${label}`);
    await createTinyCheckpoint(huge);
    const config = JSON.parse(await readFile(join(huge, 'config.json'), 'utf8'));
    await writeFile(join(huge, 'config.json'), JSON.stringify({ ...config, ...numbers }));
    const build = buildModel({ sourceDir: huge, outputDir, precision: 'f32', kvType: 'int8' });
    await expect(build).rejects.toMatchObject(fault);
    expect(await readdir(parent)).toEqual([]);
  });

  // A limit on file sizes stands in for a full disk; only a shell of Unix can set one.
  it.skipIf(process.platform === 'win32')('when the disk refuses to take more', async () => {
    const { parent, outputDir } = await newOutput();
    const script = fileURLToPath(new URL('./build-in-process.ts', import.meta.url));
    const command = 'ulimit -f 64; exec "$0" --conditions=@ortler/source "$@"';
    const args = ['-c', command, process.execPath, script, source, outputDir];
    const outcome = JSON.parse(execFileSync('sh', args, { encoding: 'utf8' }));
    expect(outcome).toMatchObject({ code: 'write_failed', file: outputDir });
    expect(outcome.message).toContain('EFBIG');
    expect(await readdir(parent)).toEqual([]);
  });

  it('when the parent of its output folder is a file', async () => {
    const outputDir = join(source, 'config.json', 'model');
    await expect(buildModel({ sourceDir: source, outputDir, precision: 'f32' })).rejects.toMatchObject({
      code: 'write_failed',
      file: outputDir,
    });
  });
});

it('ignores tensors that have no effect in transformers either', async () => {
  const { outputDir } = await newOutput();
  const older = join(folder, 'older');
  const config = await createTinyCheckpoint(older);
  const zeros = (name: string, shape: number[]) => ({ name, shape, fill: () => undefined });
  await writeSafetensors(join(older, 'model.safetensors'), 'F32', [
    ...seededTensors(config, 1),
    zeros('model.layers.0.self_attn.rotary_emb.inv_freq', [8]),
  ]);
  const manifest = await buildModel({ sourceDir: older, outputDir, precision: 'f32' });
  expect(manifest.parameterCount).toBe(92_480);
});

it('removes what a killed build of the same output left, and nothing else', async () => {
  const { parent, outputDir } = await newOutput();
  // No process has this number: it is above the largest that Linux gives.
  const leftOf = (name: string) =>
    join(parent, `${name}.building-${hostname().replace(/[^\w.]/g, '_')}-4999999-0123abcd`);
  const running = leftOf('model').replace('4999999', String(process.pid));
  for (const left of [leftOf('model'), leftOf('other'), running]) await mkdir(left);
  await buildModel({ sourceDir: source, outputDir, precision: 'f32' });
  const expected = [outputDir, leftOf('other'), running].map(path => basename(path));
  expect((await readdir(parent)).toSorted()).toEqual(expected.toSorted());
});

it('never touches an output folder that exists', async () => {
  const { outputDir } = await newOutput();
  await mkdir(outputDir);
  await expect(buildModel({ sourceDir: source, outputDir, precision: 'f32' })).rejects.toMatchObject({
    code: 'output_exists',
    file: outputDir,
  });
  expect(await readdir(outputDir)).toEqual([]);
});

it('refuses a tokenizer that the engine does not have, before a weight is built', async () => {
  const { outputDir } = await newOutput();
  const foreign = join(folder, 'foreign-tokenizer');
  await createTinyCheckpoint(foreign);
  const file = join(foreign, 'tokenizer.json');
  const tokenizer = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...tokenizer, model: { type: 'Unigram', vocab: [] } }));
  const stages: string[] = [];
  const onProgress = ({ stage }: { readonly stage: string }) => stages.push(stage);
  await expect(
    buildModel({ sourceDir: foreign, outputDir, precision: 'f32', onProgress }),
  ).rejects.toMatchObject({
    code: 'unsupported',
    file: foreign,
    message: `${foreign}: tokenizer.json of the model folder has the model "Unigram", which is not supported; supported: BPE.`,
  });
  expect(stages).not.toContain('weights');
});

it.each(['config.json', 'tokenizer.json', 'model.safetensors'])('names %s when it is missing', async name => {
  const { outputDir } = await newOutput();
  const incomplete = join(folder, `without-${name}`);
  await createTinyCheckpoint(incomplete);
  await rm(join(incomplete, name));
  await expect(buildModel({ sourceDir: incomplete, outputDir, precision: 'f32' })).rejects.toMatchObject({
    code: 'source_invalid',
    file: join(incomplete, name),
  });
});
