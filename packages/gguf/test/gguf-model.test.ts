import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GgufError, GgufModel, listGgufFiles } from '../src/index.ts';
import { encodeGguf, type GgufToWrite, seededBlocks } from '../src/testing/index.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
let fileCount = 0;

function write(bytes: Uint8Array, name = `file-${fileCount++}.gguf`): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const SMALL: GgufToWrite = {
  metadata: { 'general.architecture': 'llama', 'test.tokens': ['a', 'bc'], 'test.flag': true },
  tensors: [
    { name: 'table', type: 'Q8_0', dimensions: [64, 3], bytes: seededBlocks('Q8_0', 192, 1, 1) },
    { name: 'norm', type: 'F32', dimensions: [5], bytes: seededBlocks('F32', 5, 1, 2) },
  ],
};

async function failure(path: string): Promise<GgufError> {
  const model = await GgufModel.open(path).catch((error: unknown) => error);
  if (model instanceof GgufModel) {
    await model.close();
    throw new Error('the file was read');
  }
  if (model instanceof GgufError) return model;
  throw model;
}

/** The small file with bytes replaced. */
function patched(at: number, bytes: Uint8Array, file = SMALL): Buffer {
  const whole = encodeGguf(file);
  whole.set(bytes, at);
  return whole;
}

const uint64 = (value: bigint) => new Uint8Array(BigUint64Array.of(value).buffer);
const uint32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
/** Where the text is in the small file. */
const after = (text: string) => encodeGguf(SMALL).indexOf(text) + text.length;

describe('a GGUF file', () => {
  it.each([2, 3])('of version %d is read', async version => {
    const model = await GgufModel.open(write(encodeGguf({ ...SMALL, version })));
    expect(model.metadata.get('test.tokens')).toEqual(['a', 'bc']);
    expect(model.metadata.get('test.flag')).toBe(true);
    expect(model.tensorNames).toEqual(['table', 'norm']);
    expect(model.typeOf('table')).toBe('Q8_0');
    await model.close();
  });

  it('is read with the alignment that it names', async () => {
    const model = await GgufModel.open(write(encodeGguf({ ...SMALL, alignment: 256 })));
    expect(model.tensor('norm')!.begin % 256).toBe(0);
    const values = new Float32Array(5);
    await model.readFloats('norm', 0, values);
    expect(new Uint8Array(values.buffer)).toEqual(SMALL.tensors[1]!.bytes);
    await model.close();
  });

  it('gives the same values in pieces of whole blocks as at once', async () => {
    const model = await GgufModel.open(write(encodeGguf(SMALL)));
    const whole = new Float32Array(192);
    await model.readFloats('table', 0, whole);
    const piece = new Float32Array(64);
    await model.readFloats('table', 96, piece);
    expect(piece).toEqual(whole.slice(96, 160));
    await expect(model.readFloats('table', 8, piece)).rejects.toThrow(RangeError);
    await expect(model.readFloats('table', 160, piece)).rejects.toThrow(RangeError);
    await model.close();
  });

  it('that does not exist is unreadable', async () => {
    expect(await failure(join(folder, 'none.gguf'))).toMatchObject({ code: 'unreadable' });
    expect(await failure(folder)).toMatchObject({ code: 'unreadable' });
  });
});

it.skipIf(process.platform === 'win32')('a pipe is refused without waiting for its writer', async () => {
  const path = join(folder, 'pipe.gguf');
  execFileSync('mkfifo', [path]);
  await expect(GgufModel.open(path)).rejects.toThrow(/pipe\.gguf is not a file/);
});

describe('refuses', () => {
  it.each([
    ['a file of another format', Buffer.from('PK\u0003\u0004 and more'), 'corrupt', 'begins with "GGUF"'],
    [
      'a pointer of Git LFS',
      Buffer.from('version https://git-lfs.github.com/spec/v1'),
      'corrupt',
      'git lfs pull',
    ],
    ['an empty file', Buffer.alloc(0), 'corrupt', 'is truncated'],
    ['version 1', patched(4, uint32(1)), 'unsupported', 'version 1 is not supported; supported: 2 and 3'],
    ['a big-endian file', patched(4, Uint8Array.of(0, 0, 0, 3)), 'unsupported', 'big-endian'],
    [
      'a number of tensors beyond the file',
      patched(8, uint64(2n ** 40n)),
      'corrupt',
      'claims 1099511627776 elements',
    ],
    ['a number of tensors beyond 2^53', patched(8, uint64(2n ** 63n)), 'corrupt', 'which is not a size'],
    [
      'a number of pairs beyond the file',
      patched(16, uint64(10n ** 6n)),
      'corrupt',
      'claims 1000000 elements',
    ],
    ['a key beyond the file', patched(24, uint64(10n ** 9n)), 'corrupt', 'metadata pair 1 of 3: claims'],
    [
      'a value of an unknown type',
      patched(after('general.architecture'), uint32(99)),
      'corrupt',
      'metadata key "general.architecture": has a value of type 99',
    ],
    [
      'an array beyond the file',
      patched(after('test.tokens') + 8, uint64(10n ** 9n)),
      'corrupt',
      'metadata key "test.tokens": claims 1000000000 elements',
    ],
    [
      'a boolean that is none',
      patched(after('test.flag') + 4, Uint8Array.of(2)),
      'corrupt',
      'has the boolean 2',
    ],
    [
      'text that is not UTF-8',
      patched(after('general.architecture') + 12, Uint8Array.of(0xff)),
      'corrupt',
      'not UTF-8',
    ],
    [
      'a tensor without dimensions',
      patched(after('table'), uint32(0)),
      'corrupt',
      'tensor "table": has 0 dimensions',
    ],
    ['a tensor with nine dimensions', patched(after('table'), uint32(9)), 'corrupt', 'has 9 dimensions'],
    [
      'a dimension beyond 2^53',
      patched(after('table') + 4, uint64(2n ** 60n)),
      'corrupt',
      'which is not a size',
    ],
    ['no elements', patched(after('table') + 12, uint64(0n)), 'corrupt', 'has the dimensions [64,0]'],
    [
      'rows that are not whole blocks',
      patched(after('table') + 4, uint64(65n)),
      'corrupt',
      'has rows of 65 elements, which are not whole blocks of Q8_0 (32)',
    ],
    [
      'more rows than the file has',
      patched(after('table') + 12, uint64(99n)),
      'corrupt',
      'tensor "table": is truncated',
    ],
    ['an unknown tensor type', patched(after('table') + 20, uint32(77)), 'unsupported', 'has the type 77'],
    [
      'an offset off the alignment',
      patched(after('norm') + 16, uint64(225n)),
      'corrupt',
      'not a multiple of 32',
    ],
    [
      'tensors that overlap',
      patched(after('norm') + 16, uint64(192n)),
      'corrupt',
      'inside the tensor before it',
    ],
    ['a tensor behind the file', patched(after('norm') + 16, uint64(2n ** 32n)), 'corrupt', 'is truncated'],
  ] as const)('%s', async (_label, bytes, code, message) => {
    const error = await failure(write(bytes));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(error.message).toContain(error.file);
  });

  it('a list or a text of a size that none has, before it is read', async () => {
    // A sparse file: the lengths are within it.
    const list = encodeGguf({ ...SMALL, metadata: { 'test.list': { int32s: [1] } } });
    list.set(uint64(2n ** 27n), list.indexOf('test.list') + 'test.list'.length + 8);
    const path = write(list);
    truncateSync(path, 2 ** 30);
    expect((await failure(path)).message).toContain(
      'metadata key "test.list": has a list of 536870912 bytes',
    );
    const text = write(patched(after('general.architecture') + 4, uint64(2n ** 29n)));
    truncateSync(text, 2 ** 30);
    expect((await failure(text)).message).toContain('has a string of 536870912 bytes');
  });

  it.each([0, 33, 2 ** 21])('the alignment %d', async alignment => {
    const metadata = { 'general.alignment': { uint32: alignment } };
    expect(await failure(write(encodeGguf({ ...SMALL, metadata })))).toMatchObject({
      key: 'general.alignment',
    });
  });

  it('a key and a tensor that are there twice', async () => {
    const text = encodeGguf({ ...SMALL, metadata: { ...SMALL.metadata, 'test.flog': true } });
    text.write('a', text.indexOf('test.flog') + 'test.fl'.length);
    expect((await failure(write(text))).message).toContain('metadata key "test.flag": is there twice');
    const tensors = [SMALL.tensors[0]!, SMALL.tensors[0]!];
    expect(await failure(write(encodeGguf({ ...SMALL, tensors })))).toMatchObject({ tensor: 'table' });
  });

  it('to read values of a type that is known by name only, with the served ones', async () => {
    // Q8_K has 292 bytes in a block; 256 elements of F32 have more.
    const tensors = [
      { name: 'x', type: 'F32' as const, dimensions: [256], bytes: seededBlocks('F32', 256, 1, 1) },
    ];
    const bytes = encodeGguf({ metadata: {}, tensors });
    bytes.writeUInt32LE(15, bytes.indexOf('x') + 1 + 4 + 8);
    const model = await GgufModel.open(write(bytes));
    expect(() => model.typeOf('x')).toThrow(/tensor "x": has type Q8_K; supported: F32, F16, BF16, Q8_0/);
    await model.close();
  });
});

it('is refused as damaged wherever it is cut off, and by nothing else', async () => {
  const whole = encodeGguf(SMALL);
  const last = SMALL.tensors[1]!.bytes.length;
  // Only the padding after the last tensor may be missing.
  const needed = whole.length - 32 + last;
  for (let length = 0; length < needed; length++)
    expect((await failure(write(whole.subarray(0, length), 'cut.gguf'))).code).toBe('corrupt');
});

it('is read or refused with an error of its own, never with another one, with any bytes changed', async () => {
  const whole = encodeGguf(SMALL);
  const headerLength = whole.length - 224 - 32;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(headerLength - 1), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      }),
      async changes => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        const model = await GgufModel.open(write(bytes, 'changed.gguf')).catch((error: unknown) => error);
        if (model instanceof GgufModel) await model.close();
        else expect(model).toBeInstanceOf(GgufError);
      },
    ),
    { numRuns: 500 },
  );
});

describe('a model in shards', () => {
  const shard = (i: number, count: number, changes: Record<string, number> = {}) =>
    encodeGguf({
      metadata: {
        ...(i === 0 ? SMALL.metadata : {}),
        'split.no': { uint16: changes.no ?? i },
        'split.count': { uint16: changes.count ?? count },
        'split.tensors.count': { int32: changes.tensors ?? 2 },
      },
      tensors: [SMALL.tensors[i]!],
    });
  const name = (stem: string, i: number) => `${stem}-0000${i + 1}-of-00002.gguf`;

  it('is opened by any of its files', async () => {
    const paths = [0, 1].map(i => write(shard(i, 2), name('whole', i)));
    for (const path of paths) {
      expect(listGgufFiles(path)).toEqual(paths);
      const model = await GgufModel.open(path);
      expect(model.tensorNames).toEqual(['table', 'norm']);
      expect(model.metadata.get('general.architecture')).toBe('llama');
      expect(model.fileOf('norm')).toBe(paths[1]);
      const values = new Float32Array(5);
      await model.readFloats('norm', 0, values);
      expect(new Uint8Array(values.buffer)).toEqual(SMALL.tensors[1]!.bytes);
      await model.close();
    }
  });

  it('is refused where one is missing', async () => {
    const path = write(shard(0, 2), name('alone', 0));
    const file = join(folder, name('alone', 1));
    expect(await failure(path)).toMatchObject({
      code: 'unreadable',
      file,
      message: `${file} does not exist`,
    });
  });

  it.each([
    ['split.count', { count: 3 }],
    ['split.no', { no: 0 }],
    ['split.tensors.count', { tensors: 3 }],
  ])('is refused where %s contradicts the files', async (key, changes) => {
    write(shard(0, 2), name(key, 0));
    const path = write(shard(1, 2, changes), name(key, 1));
    expect(await failure(path)).toMatchObject({ code: 'corrupt', key });
  });

  it('is refused where a shard has another name', async () => {
    expect(await failure(write(shard(0, 2), 'renamed.gguf'))).toMatchObject({
      code: 'corrupt',
      key: 'split.count',
    });
  });

  it('is one file where the name only looks alike', () => {
    for (const path of ['a-00003-of-00002.gguf', 'a-00000-of-00002.gguf', 'a-1-of-2.gguf'])
      expect(listGgufFiles(path)).toEqual([path]);
  });
});
