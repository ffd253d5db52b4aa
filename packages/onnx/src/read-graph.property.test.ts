import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { OnnxError } from './errors.ts';
import { ELEMENT_TYPES, GraphRecorder, int, MICROSOFT } from './graph.ts';
import { encodeModel, type TensorPlacement } from './model-proto.ts';
import { readGraph } from './read-graph.ts';

const folder = mkdtempSync(join(tmpdir(), 'ortler-graph-'));
const file = join(folder, 'model.onnx');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const graph = new GraphRecorder();
graph.input('x', 'int64', ['batch', 7]);
graph.constant('inside', 'int64', [1, 2, 3]);
graph.constant('outside', 'float32', [1, 2]);
graph.op('/node', 'Thing', ['x', '', 'inside', 'outside'], {
  domain: MICROSOFT,
  attributes: { num_heads: int(300), axis: int(-1) },
  outputs: ['y', 'z'],
});
graph.output('y', 'float32', ['batch', 4]);
const bytes = encodeModel(
  graph,
  new Map<string, TensorPlacement>([
    ['inside', { kind: 'inline', bytes: new Uint8Array(24) }],
    ['outside', { kind: 'external', file: 'model.data', offset: 0, length: 8 }],
  ]),
  'testing',
).slice();

describe('readGraph', () => {
  it('finds what the writer wrote', () => {
    writeFileSync(file, bytes);
    const { weights, ...rest } = readGraph(file);
    expect(rest).toEqual({
      nodes: [
        {
          path: '/node',
          opType: 'Thing',
          domain: MICROSOFT,
          inputs: ['x', '', 'inside', 'outside'],
          outputs: ['y', 'z'],
          integers: new Map([
            ['num_heads', 300],
            ['axis', -1],
          ]),
        },
      ],
      inputs: [{ name: 'x', onnxType: ELEMENT_TYPES.int64.onnxType, dims: ['batch', 7] }],
      outputs: [{ name: 'y', onnxType: ELEMENT_TYPES.float32.onnxType, dims: ['batch', 4] }],
    });
    expect([...weights.values()]).toEqual([
      {
        name: 'inside',
        onnxType: ELEMENT_TYPES.int64.onnxType,
        dims: [3],
        file: undefined,
        offset: 0,
        length: undefined,
      },
      {
        name: 'outside',
        onnxType: ELEMENT_TYPES.float32.onnxType,
        dims: [2],
        file: 'model.data',
        offset: 0,
        length: 8,
      },
    ]);
  });

  it('names a pointer of Git LFS', () => {
    writeFileSync(file, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n');
    expect(() => readGraph(file)).toThrow(
      `${file} is not an ONNX model: this is a pointer of Git LFS: fetch the model with "git lfs pull"`,
    );
  });

  it('refuses a weight with more dimensions than any has', () => {
    const field = (number: number, content: Buffer) => {
      const length = content.length;
      const varint = [length & 0x7f, (length >> 7) & 0x7f, length >> 14].map((byte, i) =>
        i < 2 ? byte | 0x80 : byte,
      );
      return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint]), content]);
    };
    writeFileSync(file, field(7, field(5, field(1, Buffer.alloc(200_000, 1)))));
    expect(() => readGraph(file)).toThrow(
      `${file} is not an ONNX model: at byte 12, a list of integers has 200000 bytes`,
    );
  });

  it('reads any damaged file or refuses it with its name', () => {
    const damage = fc.record({
      length: fc.integer({ min: 0, max: bytes.length }),
      changes: fc.array(fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 })), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(damage, ({ length, changes }) => {
        const damaged = bytes.slice();
        for (const [position, value] of changes) damaged[position] = value;
        writeFileSync(file, damaged.subarray(0, length));
        try {
          readGraph(file);
        } catch (error) {
          expect(error).toBeInstanceOf(OnnxError);
          expect(error).toMatchObject({ code: 'malformed', file });
        }
      }),
      { numRuns: 500 },
    );
  });
});
