// Values of every served type against gguf-py; `golden/make_goldens.py` wrote them.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blockLayout, dequantise, GGUF_TYPES, type GgufType } from '../src/index.ts';

const golden = (name: string) => readFileSync(new URL(`./golden/${name}`, import.meta.url));

interface GoldenType {
  readonly type: GgufType;
  readonly blocks: readonly [number, number];
  readonly values: readonly [number, number];
}

const { provenance, types } = JSON.parse(golden('dequantised.json').toString('utf8')) as {
  readonly provenance: { readonly script: string; readonly versions: Readonly<Record<string, string>> };
  readonly types: readonly GoldenType[];
};
const data = golden('dequantised.bin');

it('has a golden with provenance for every served type', () => {
  expect(provenance.script).toMatch(/make_goldens\.py$/);
  expect(Object.keys(provenance.versions)).toEqual(['gguf', 'numpy']);
  expect(types.map(({ type }) => type)).toEqual(GGUF_TYPES);
});

it.each(types)('dequantises $type bit for bit as gguf-py', ({ type, blocks, values }) => {
  const bytes = data.subarray(...blocks);
  const { blockLength, blockBytes } = blockLayout(type);
  const target = new Float32Array((bytes.length / blockBytes) * blockLength);
  dequantise(type, bytes, target);
  expect(Buffer.from(target.buffer).equals(data.subarray(...values))).toBe(true);
});

it('refuses bytes that are not whole blocks of the target', () => {
  expect(() => dequantise('Q4_0', new Uint8Array(17), new Float32Array(32))).toThrow(RangeError);
});
