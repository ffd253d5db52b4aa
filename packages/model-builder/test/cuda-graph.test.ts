// The graphs for CUDA of all families with a paged graph, against the graphs for other devices.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundGraph, type FoundNode, readGraph } from '@ortler/onnx';
import { selectBackend } from '@ortler/onnxruntime';
import { describe, expect, it } from 'vitest';
import { cudaNorms } from '../src/architectures/cuda-norms.ts';
import { parseDecoderConfig } from '../src/architectures/read-decoder-config.ts';
import { variantFault } from '../src/architectures/variant-fault.ts';
import { PAGED_ATTENTION_INPUT } from '../src/blocks/fuse-head-norms.ts';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from './decoder-golden.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

const PAGED = DECODER_GOLDENS.flatMap(({ family, cases }) =>
  cases.flatMap(golden => {
    const config = parseDecoderConfig('config.json', golden.config);
    if (variantFault('paged', config) !== undefined) return [];
    const told = cudaNorms(config);
    return [{ label: `${family}, ${golden.name}`, golden, norms: config.queryKeyNorm, told }];
  }),
);
const NORMED = PAGED.filter(({ norms }) => norms === 'head');
const OTHERS = PAGED.filter(({ norms }) => norms !== 'head');

/** Fewer of those without: a build of each kind of norm is enough. */
const WITHOUT = ['none', 'width'].flatMap(kind => OTHERS.find(({ norms }) => norms === kind) ?? []);

/** Norms as operators of their own again, by the names that the builder gives them. */
function expandNorms({ nodes }: FoundGraph): readonly FoundNode[] {
  const at = PAGED_ATTENTION_INPUT;
  return nodes.flatMap(node => {
    if (node.opType !== 'PagedAttention' || (node.inputs[at.queryNorm] ?? '') === '') return [node];
    const path = node.path.slice(0, node.path.lastIndexOf('/'));
    const inputs = [...node.inputs];
    const made: FoundNode[] = [];
    if (inputs[at.key] === '') {
      const packed = inputs[at.query]!;
      const split = `${path}/qkv_proj/Split`;
      for (const [i, place] of [at.query, at.key, at.value].entries()) inputs[place] = `${split}/output_${i}`;
      const outputs = inputs.slice(at.query, at.value + 1);
      made.push(plain(split, 'Split', [packed, `${split}/lengths`], outputs, [['axis', -1]]));
    }
    for (const [part, place, weight] of [
      ['k', at.key, inputs[at.keyNorm]!],
      ['q', at.query, inputs[at.queryNorm]!],
    ] as const) {
      const norm = `${path}/${part}_norm`;
      const [apart, scale, join] = ['Reshape_1', 'SimplifiedLayerNormalization', 'Reshape_2'].map(
        name => `${norm}/${name}`,
      ) as [string, string, string];
      const settings = [
        ['axis', -1],
        ['epsilon', 0],
        ['stash_type', 1],
      ] as const;
      made.push(plain(apart, 'Reshape', [inputs[place]!, `${norm}/heads_apart`]));
      made.push(
        plain(scale, 'SimplifiedLayerNormalization', [`${apart}/output_0`, weight], undefined, settings),
      );
      made.push(plain(join, 'Reshape', [`${scale}/output_0`, `${norm}/heads_joined`]));
      inputs[place] = `${join}/output_0`;
    }
    inputs[at.queryNorm] = '';
    inputs[at.keyNorm] = '';
    const integers = new Map(node.integers);
    expect(integers.delete('qk_norm_epsilon')).toBe(true);
    return [...made, { ...node, inputs, integers }];
  });
}

function plain(
  path: string,
  opType: string,
  inputs: readonly string[],
  outputs: readonly string[] = [`${path}/output_0`],
  integers: readonly (readonly [string, number])[] = [],
): FoundNode {
  return { path, opType, domain: '', inputs, outputs, integers: new Map(integers) };
}

/**
 * Types and shapes fit, and the provider has no kernel. ONNX Runtime puts casts to float32 around operators without a kernel for float16
 * then, which the attention does not take.
 */
const NO_KERNEL =
  /Type 'tensor\(float\)' of input parameter \(InsertedPrecisionFreeCast_.*\) of operator \(PagedAttention\)/;

/** The message of the refusal; undefined for a graph that is loaded. */
async function loadOnCpu(file: string): Promise<string | undefined> {
  const { backend } = await selectBackend('native');
  return backend.createSession(file, { threadCount: 1, spin: false }).then(
    session => void session.dispose(),
    (error: Error) => error.message,
  );
}

const byPath = (nodes: readonly FoundNode[]) =>
  nodes.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));

async function build(label: string, golden: (typeof PAGED)[number]['golden']) {
  const [sourceDir, outputDir] = [join(folder, label, 'source'), join(folder, label, 'built')];
  await writeGoldenCheckpoint(sourceDir, golden);
  const manifest = await buildModel({ sourceDir, outputDir, precision: 'f16', variant: 'paged' });
  return { manifest, outputDir };
}

it('has families with norms of heads to look at, and others', () => {
  expect(new Set(NORMED.map(({ label }) => label.split(',')[0]))).toEqual(new Set(['exaone4', 'qwen3']));
  expect(WITHOUT.map(({ norms }) => norms)).toEqual(['none', 'width']);
});

describe.each(NORMED)('$label', ({ label, golden, told }) => {
  it('is the same graph with the norms inside the attention, over the same weights', async () => {
    const { manifest, outputDir } = await build(label, golden);
    expect(told).toBe('inside');
    const whole = readGraph(join(outputDir, manifest.graphFile));
    const cuda = readGraph(join(outputDir, manifest.cudaGraphFile!));
    expect([cuda.inputs, cuda.outputs]).toEqual([whole.inputs, whole.outputs]);
    for (const [name, weight] of cuda.weights) expect(weight).toEqual(whole.weights.get(name));
    expect(cuda.nodes.some(({ path }) => /[qk]_norm/.test(path))).toBe(false);
    expect(cuda.nodes.length).toBeLessThan(whole.nodes.length);
    expect(byPath(expandNorms(cuda))).toEqual(byPath(whole.nodes));
    expect(Object.keys(manifest.files)).toContain(manifest.cudaGraphFile);
  });
});

it.each(WITHOUT)(
  'of a model with norms of kind "$norms" there is none',
  async ({ label, golden, norms, told }) => {
    const { manifest, outputDir } = await build(label, golden);
    expect(told).toBe(norms === 'none' ? undefined : 'apart');
    expect(manifest.cudaGraphFile).toBeUndefined();
    expect((await readdir(outputDir)).filter(name => name.endsWith('.onnx'))).toEqual(['model.onnx']);
  },
);

describe.each(['f16', 'q8', 'q4'] as const)('a graph for CUDA in %s', precision => {
  it('fits the schemas of ONNX Runtime as the other graph does: the CPU misses the same kernel of both', async () => {
    const [sourceDir, outputDir] = [join(folder, precision, 'source'), join(folder, precision, 'built')];
    await createTinyCheckpoint(sourceDir, { modelType: 'qwen3', seed: 3 });
    const manifest = await buildModel({ sourceDir, outputDir, precision, variant: 'paged' });
    const file = join(outputDir, manifest.cudaGraphFile!);
    const [plain, cuda] = [await loadOnCpu(join(outputDir, manifest.graphFile)), await loadOnCpu(file)];
    expect(plain).toMatch(NO_KERNEL);
    expect(cuda).toMatch(NO_KERNEL);
    // What does not fit a schema is refused for that, before kernels are looked for.
    const damaged = join(outputDir, 'damaged.onnx');
    for (const [part, other, refusal] of [
      [
        'qk_norm_epsilon',
        'qk_norm_epsilom',
        /Unrecognized attribute: qk_norm_epsilom for operator PagedAttention/,
      ],
      ['attn.q_norm.weight', 'attn.q_norm.weighs', /attn\.q_norm\.weighs/],
    ] as const) {
      const bytes = await readFile(file);
      bytes.write(other, bytes.indexOf(part));
      await writeFile(damaged, bytes);
      expect(await loadOnCpu(damaged)).toMatch(refusal);
    }
  });
});
