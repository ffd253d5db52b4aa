import { expect, it } from 'vitest';
import { type PackedValue, packMessage } from './message-pack.ts';

// Source of the bytes: the format families of the specification of MessagePack.
it.each<readonly [PackedValue, string]>([
  [null, 'c0'],
  [0, '00'],
  [127, '7f'],
  [128, 'cd0080'],
  [65_536, 'ce00010000'],
  [2 ** 32 - 1, 'ceffffffff'],
  [2 ** 32, 'cb41f0000000000000'],
  [-1, 'cbbff0000000000000'],
  [0.5, 'cb3fe0000000000000'],
  [{ high: 1, low: 2 }, 'cf0000000100000002'],
  ['GPU', 'a3475055'],
  ['é'.repeat(16), `da0020${'c3a9'.repeat(16)}`],
  [[], '90'],
  [[1, [null]], '920191c0'],
  [Array.from({ length: 16 }, () => 1), `dc0010${'01'.repeat(16)}`],
  [new Map([['a', 1]]), '81a16101'],
])('packs %j', (value, hex) => {
  expect(packMessage(value).toString('hex')).toBe(hex);
});

it('counts long texts and arrays in four bytes', () => {
  expect(packMessage('x'.repeat(65_536)).subarray(0, 6).toString('hex')).toBe('db0001000078');
  const many = packMessage(Array.from({ length: 65_536 }, () => 7));
  expect([many.length, many.subarray(0, 6).toString('hex')]).toEqual([5 + 65_536, 'dd0001000007']);
});
