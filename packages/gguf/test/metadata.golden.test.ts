// A file that gguf-py wrote, against what gguf-py reads from it; `golden/make_goldens.py` wrote both.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { GgufModel, type GgufValue } from '../src/index.ts';

const path = (name: string) => fileURLToPath(new URL(`./golden/${name}`, import.meta.url));

interface Golden {
  readonly provenance: { readonly script: string };
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tensors: readonly {
    readonly name: string;
    readonly type: string;
    readonly dimensions: readonly number[];
    readonly begin: number;
    readonly end: number;
    readonly values: readonly number[];
  }[];
}

const golden = JSON.parse(readFileSync(path('metadata.json'), 'utf8')) as Golden;

/** As the golden has it: 64-bit integers as text, all arrays as arrays. */
function plain(value: GgufValue): unknown {
  if (typeof value === 'bigint') return String(value);
  return ArrayBuffer.isView(value) ? [...(value as Int32Array)] : value;
}

it('reads the metadata that gguf-py wrote, in its order', async () => {
  const model = await GgufModel.open(path('metadata.gguf'));
  await model.close();
  const found = [...model.metadata].map(([key, value]) => [key, plain(value)]);
  expect(found).toEqual(Object.entries(golden.metadata));
  expect(model.metadata.get('test.uint64')).toBe(2n ** 64n - 1n);
  expect(model.metadata.get('test.int32s')).toBeInstanceOf(Int32Array);
  expect(model.metadata.get('test.float32s')).toBeInstanceOf(Float32Array);
});

it('finds the tensors and their values where gguf-py does', async () => {
  const model = await GgufModel.open(path('metadata.gguf'));
  expect(model.tensorNames).toEqual(golden.tensors.map(({ name }) => name));
  for (const { name, type, dimensions, begin, end, values } of golden.tensors) {
    const tensor = model.tensor(name)!;
    expect(tensor).toMatchObject({ name, dimensions, begin, end });
    expect(tensor.type.name).toBe(type);
    const floats = new Float32Array(values.length);
    await model.readFloats(name, 0, floats);
    expect([...floats]).toEqual(values);
  }
  await model.close();
});
