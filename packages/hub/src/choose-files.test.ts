import { describe, expect, test } from 'vitest';
import { chooseFiles, type GraphChoice } from './choose-files.ts';

const INDEX = 'model.safetensors.index.json';

interface Given {
  readonly quant?: string;
  readonly index?: string;
  readonly choice?: GraphChoice;
}

function choose(paths: readonly string[], { quant, index = '', choice }: Given = {}) {
  const readText = async () => index;
  return chooseFiles({ repository: 'org/model', paths, quant, readText, chooseGraph: async () => choice });
}

describe('the files that a build needs', () => {
  // A search of the list for each shard would take minutes, on the thread that serves all requests.
  test('are found at once in an index and a repository of tens of thousands', async () => {
    const shards = Array.from(
      { length: 50_000 },
      (_, i) => `model-${String(i).padStart(6, '0')}.safetensors`,
    );
    const index = JSON.stringify({
      weight_map: Object.fromEntries(shards.map((name, i) => [`t${i}`, name])),
    });
    const { weights } = await choose(['config.json', INDEX, ...shards], { index });
    expect(weights).toHaveLength(shards.length);
  });

  test('are configuration, tokenizer, template and weights of a checkpoint', async () => {
    const needed = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'];
    const templates = ['chat_template.jinja', 'special_tokens_map.json', 'merges.txt', 'vocab.json'];
    templates.push('additional_chat_templates/rag.jinja');
    const others = [
      'README.md',
      'pytorch_model.bin',
      'onnx/model.onnx',
      'consolidated.safetensors',
      'x/config.json',
    ];
    const { kind, companions, weights, entry } = await choose([
      ...needed,
      ...others,
      ...templates,
      'model.safetensors',
    ]);
    expect({ kind, weights, entry }).toEqual({
      kind: 'safetensors',
      weights: ['model.safetensors'],
      entry: undefined,
    });
    expect(companions).toEqual([...needed, ...templates]);
  });

  test('are the shards that the index names', async () => {
    const index = JSON.stringify({
      weight_map: { b: 'm-2.safetensors', a: 'm-1.safetensors', c: 'm-2.safetensors' },
    });
    const paths = ['config.json', INDEX, 'm-1.safetensors', 'm-2.safetensors', 'm-3.safetensors'];
    const { companions, weights } = await choose(paths, { index });
    expect(weights).toEqual(['m-1.safetensors', 'm-2.safetensors']);
    expect(companions).toEqual(['config.json', INDEX]);
    await expect(choose(paths.slice(0, 3), { index })).rejects.toThrow('lacks m-2.safetensors');
  });

  test.each([
    '',
    '{}',
    '{"weight_map":{}}',
    '{"weight_map":{"a":"../x.safetensors"}}',
    '{"weight_map":{"a":1}}',
  ])('are refused for the index %j', async index => {
    await expect(choose(['config.json', INDEX], { index })).rejects.toMatchObject({ code: 'reply_invalid' });
  });

  test('are one GGUF file where there is no checkpoint, or where a quantisation is named', async () => {
    const both = ['config.json', 'model.safetensors', 'm-Q8_0.gguf'];
    expect(await choose(both)).toMatchObject({ kind: 'safetensors' });
    const gguf = { kind: 'gguf', companions: [], weights: ['m-Q8_0.gguf'], entry: 'm-Q8_0.gguf' };
    expect(await choose(both, { quant: 'Q8_0' })).toEqual(gguf);
    expect(await choose(['config.json', 'm-Q8_0.gguf'])).toEqual(gguf);
  });

  test('are the two files of an adapter', async () => {
    const paths = ['README.md', 'adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'];
    expect(await choose(paths)).toEqual({
      kind: 'adapter',
      companions: ['adapter_config.json'],
      weights: ['adapter_model.safetensors'],
      entry: undefined,
    });
  });

  test('are those of a graph that the caller chooses, with the files beside its settings', async () => {
    const paths = ['README.md', 'config.json', 'tokenizer.json', 'onnx/model.onnx', 'onnx/model_q4.onnx'];
    const weights = ['onnx/model_q4.onnx'];
    const choice = { kind: 'chosen', folder: '', weights } as const;
    expect(await choose(paths, { choice })).toEqual({
      kind: 'onnx',
      companions: ['config.json', 'tokenizer.json'],
      weights,
      entry: undefined,
    });
    const inFolder = [
      'config.json',
      'cpu/a/genai_config.json',
      'cpu/a/tokenizer.json',
      'cpu/a/m.onnx',
      'cpu/b/x',
    ];
    expect(
      await choose(inFolder, { choice: { kind: 'chosen', folder: 'cpu/a', weights: ['cpu/a/m.onnx'] } }),
    ).toMatchObject({ companions: ['cpu/a/genai_config.json', 'cpu/a/tokenizer.json'], entry: 'cpu/a' });
    await expect(choose(paths, { choice: { kind: 'refused', fault: 'has none of them' } })).rejects.toThrow(
      'org/model has none of them.',
    );
    // Safetensors come first.
    expect(await choose([...paths, 'model.safetensors'], { choice })).toMatchObject({ kind: 'safetensors' });
  });

  test.each([
    [['config.json', 'pytorch_model.bin'], 'pytorch_model.bin only, a Python pickle'],
    [['config.json', 'onnx/model_q4.onnx'], 'ONNX graphs only (onnx/model_q4.onnx)'],
    [['model.onnx'], 'in no layout that is loaded by name'],
    [['consolidated.safetensors', 'params.json'], 'neither model.safetensors nor'],
    [['model.safetensors'], 'has no config.json'],
    [['README.md'], 'has no weights'],
  ])('are refused by name in %j', async (paths, message) => {
    await expect(choose(paths)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(message),
    });
  });
});
