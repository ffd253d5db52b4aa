import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { ModelBuildError } from '../errors.ts';
import { writeSafetensors } from '../testing/write-safetensors.ts';
import { SafetensorsFile } from './safetensors.ts';

const folder = temporaryFolder();
let fileCount = 0;

function newPath(): string {
  return join(folder, `${fileCount++}.safetensors`);
}

/** A file with this header (text, or a value to print as JSON) and this many bytes of tensors. */
async function fileWith(header: unknown, dataBytes: number, claimedHeaderBytes?: bigint): Promise<string> {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const lengthField = Buffer.alloc(8);
  lengthField.writeBigUInt64LE(claimedHeaderBytes ?? BigInt(text.length));
  const path = newPath();
  await writeFile(path, Buffer.concat([lengthField, text, Buffer.alloc(dataBytes)]));
  return path;
}

const entry = (begin: number, end: number, shape = [(end - begin) / 4], dtype = 'F32') => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

async function faultOf(path: string): Promise<ModelBuildError> {
  const file = await SafetensorsFile.open(path).catch((error: unknown) => error);
  if (file instanceof SafetensorsFile) {
    await file.close();
    throw new Error('the file was accepted');
  }
  expect(file).toBeInstanceOf(ModelBuildError);
  return file as ModelBuildError;
}

it('finds each tensor and its bytes', async () => {
  const path = newPath();
  const fill = (from: number) => (target: Float32Array, start: number) => {
    for (let i = 0; i < target.length; i++) target[i] = from + start + i;
  };
  await writeSafetensors(path, 'F32', [
    { name: 'a', shape: [2, 3], fill: fill(0) },
    { name: 'b.c', shape: [4], fill: fill(100) },
  ]);
  const file = await SafetensorsFile.open(path);
  const tensor = file.tensors.get('b.c')!;
  const bytes = new Uint8Array(16);
  await file.read(bytes, tensor.begin);
  await file.close();
  expect([...file.tensors.keys()]).toEqual(['a', 'b.c']);
  expect(tensor.shape).toEqual([4]);
  expect([...new Float32Array(bytes.buffer)]).toEqual([100, 101, 102, 103]);
});

it('reads the header of types it cannot use', async () => {
  const path = await fileWith({ a: entry(0, 8, [16], 'F4'), b: entry(8, 16, [1], 'I64') }, 16);
  const file = await SafetensorsFile.open(path);
  await file.close();
  expect(file.tensors.get('a')?.type).toBe('F4');
});

describe('a damaged file', () => {
  it.each<[string, unknown, number, bigint | undefined, string, string | undefined]>([
    [
      'a header past the end',
      { a: entry(0, 8) },
      8,
      5000n,
      'is truncated: the header ends at byte 5008',
      undefined,
    ],
    ['a huge header', {}, 0, 1n << 60n, 'at most 100000000 are allowed', undefined],
    [
      'a pointer of Git LFS',
      'https://git-lfs.github.com/spec/v1',
      0,
      Buffer.from('version ').readBigUInt64LE(),
      'is a pointer of Git LFS, not the weights',
      undefined,
    ],
    ['a header that is not JSON', '{"a":', 0, undefined, 'not JSON', undefined],
    ['a header that is a list', '[]', 0, undefined, 'not a JSON object', undefined],
    ['a tensor that is a number', { a: 3 }, 0, undefined, 'something other than an object', 'a'],
    ['a tensor without a type', { a: { shape: [], data_offsets: [0, 4] } }, 4, undefined, 'no dtype', 'a'],
    ['a negative dimension', { a: entry(0, 8, [-2]) }, 8, undefined, 'a shape that is not a list', 'a'],
    ['a fractional offset', { a: entry(0, 4.5, [1]) }, 8, undefined, 'two whole numbers', 'a'],
    [
      'three offsets',
      { a: { ...entry(0, 4), data_offsets: [0, 2, 4] } },
      4,
      undefined,
      'two whole numbers',
      'a',
    ],
    [
      'offsets in the wrong order',
      { a: entry(8, 0, [2]) },
      8,
      undefined,
      'end (0) before they begin (8)',
      'a',
    ],
    ['a shape of another size', { a: entry(0, 8, [3]) }, 8, undefined, 'shape [3] of F32 needs 12', 'a'],
    [
      'overlapping tensors',
      { a: entry(0, 8), b: entry(4, 12) },
      12,
      undefined,
      'overlaps the tensor before',
      'b',
    ],
    ['a gap', { a: entry(0, 8), b: entry(12, 16) }, 16, undefined, 'leaves a gap', 'b'],
    [
      'missing data',
      { a: entry(0, 8), b: entry(8, 16) },
      12,
      undefined,
      'is truncated: this tensor ends',
      'b',
    ],
    ['unclaimed data', { a: entry(0, 8) }, 9, undefined, '1 bytes after the last tensor', undefined],
    [
      'a name twice',
      '{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}',
      0,
      undefined,
      'twice',
      'a',
    ],
  ])('is refused: %s', async (_label, header, dataBytes, claimed, message, tensor) => {
    const path = await fileWith(header, dataBytes, claimed);
    const fault = await faultOf(path);
    expect(fault).toMatchObject({ code: 'weights_corrupt', file: path, tensor });
    expect(fault.message).toContain(path);
    expect(fault.message).toContain(message);
  });

  it('is refused: fewer bytes than a header length', async () => {
    const path = newPath();
    await writeFile(path, Buffer.alloc(5));
    expect((await faultOf(path)).message).toContain('holds 5 bytes');
  });

  it('is refused: truncated anywhere', async () => {
    const whole = newPath();
    await writeSafetensors(whole, 'BF16', [{ name: 'a', shape: [3], fill: () => undefined }]);
    const content = await readFile(whole);
    for (let length = 0; length < content.length; length++) {
      const path = join(folder, 'cut.safetensors');
      await writeFile(path, content.subarray(0, length));
      expect((await faultOf(path)).code).toBe('weights_corrupt');
    }
  });

  it('never causes any other error, whatever the header says', async () => {
    const anyHeader = fc.oneof(
      fc.json(),
      fc.dictionary(
        fc.string(),
        fc.record(
          {
            dtype: fc.constantFrom('F32', 'BF16', 'X', 3),
            shape: fc.array(fc.oneof(fc.nat(4), fc.integer(), fc.double()), { maxLength: 3 }),
            data_offsets: fc.array(fc.oneof(fc.nat(40), fc.double()), { maxLength: 3 }),
          },
          { requiredKeys: [] },
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(anyHeader, fc.nat(40), async (header, dataBytes) => {
        const path = await fileWith(header, dataBytes);
        const result = await SafetensorsFile.open(path).catch((error: unknown) => error);
        if (result instanceof SafetensorsFile) await result.close();
        else expect(result).toMatchObject({ name: 'ModelBuildError', code: 'weights_corrupt' });
      }),
    );
  });
});

it('names a file that is not there', async () => {
  const path = join(folder, 'absent.safetensors');
  expect(await faultOf(path)).toMatchObject({ code: 'source_invalid', file: path });
});
