import { expect, it } from 'vitest';
import { ProtoWriter } from './protobuf.ts';

function written(write: (writer: ProtoWriter) => void): number[] {
  const writer = new ProtoWriter();
  write(writer);
  return [...writer.finish()];
}

it('writes integers seven bits at a time', () => {
  // The example of the protobuf encoding guide: field 1 with the value 150.
  expect(written(writer => writer.integer(1, 150))).toEqual([0x08, 0x96, 0x01]);
});

it('writes negative integers as ten bytes of two’s complement', () => {
  expect(written(writer => writer.integer(1, -1))).toEqual([0x08, ...new Array(9).fill(0xff), 0x01]);
});

it('writes integers above 32 bits exactly', () => {
  expect(written(writer => writer.integer(1, 2 ** 35))).toEqual([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
});

it('writes field numbers above 15 as two bytes', () => {
  expect(written(writer => writer.integer(20, 1))).toEqual([0xa0, 0x01, 0x01]);
});

it('writes text with its length in bytes', () => {
  expect(written(writer => writer.string(2, 'é'))).toEqual([0x12, 0x02, 0xc3, 0xa9]);
});

it('writes floats little-endian', () => {
  expect(written(writer => writer.float(2, 1))).toEqual([0x15, 0x00, 0x00, 0x80, 0x3f]);
});

it('writes a message with the length of its content, whatever its size', () => {
  const bytes = written(writer => writer.message(3, inner => inner.bytes(1, new Uint8Array(1000).fill(7))));
  expect(bytes.slice(0, 6)).toEqual([0x1a, 0xeb, 0x07, 0x0a, 0xe8, 0x07]);
  expect(bytes.length).toBe(3 + 1003);
});
