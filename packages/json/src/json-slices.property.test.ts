import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import {
  JsonSyntaxError,
  parseLosslessJson,
  parseLosslessJsonInSlices,
  type SlicedJsonOptions,
} from './lossless-json.ts';

/** What comes of a text: its value, or where and why it is refused. */
function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { position: error.position, message: error.message };
  }
}

function readInSlices(text: string, options: SlicedJsonOptions = {}): { value: unknown; slices: number } {
  const reading = parseLosslessJsonInSlices(text, options);
  for (let slices = 1; ; slices++) {
    const { done, value } = reading.next();
    if (done) return { value, slices };
  }
}

const lengths = fc.integer({ min: 1, max: 40 });
/** Nearly every string is long, some are, none is. */
const longLengths = fc.constantFrom(1, 2, 4, 1_000);
const values = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1.5, '', '"', '\\', ',', ']}', 'é😀', 2 ** 53),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', '', '1', '__proto__', 'a,b', '"'), tie('value')), { maxLength: 5 })
      .map(entries => Object.fromEntries(entries)),
  ),
})).value;

describe('JSON that is read in slices', () => {
  it('is the same value, with its keys in the same order, whatever the slices are', () => {
    fc.assert(
      fc.property(
        values,
        fc.constantFrom(0, 1),
        lengths,
        longLengths,
        (value, indent, sliceLength, longLength) => {
          const text = JSON.stringify(value, null, indent);
          const read = readInSlices(text, { sliceLength, longLength }).value;
          const expected = parseLosslessJson(text);
          expect(read).toStrictEqual(expected);
          expect(JSON.stringify(read, printBig)).toBe(JSON.stringify(expected, printBig));
        },
      ),
      { numRuns: runs({ daily: 200, full: 1_000 }) },
    );
  });

  it('keeps the last of several values of a key', () => {
    const text = '{"a": [1, 2, 3], "b": {"c": 1, "c": [4, 5]}, "a": {"d": 6, "e": 7}, "a": 8, "b": [9, 9]}';
    for (let sliceLength = 1; sliceLength < text.length; sliceLength++)
      expect(JSON.stringify(readInSlices(text, { sliceLength }).value)).toBe('{"a":8,"b":[9,9]}');
  });

  it('is refused at the same place for the same reason', () => {
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"a"',
        '"a":',
        '"',
        '1',
        '-',
        '.5',
        'e9',
        'e999',
        'true',
        ' ',
        '\\',
        '[1,',
        '{"b":2,',
      ],
    );
    const count = runs({ daily: 1_000, full: 10_000 });
    let refused = 0;
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        longLengths,
        (parts, sliceLength, longLength) => {
          const text = parts.join('');
          const expected = outcome(() => parseLosslessJson(text));
          if (!('value' in (expected as object))) refused++;
          expect(outcome(() => readInSlices(text, { sliceLength, longLength }).value)).toEqual(expected);
        },
      ),
      { numRuns: count },
    );
    expect(refused).toBeGreaterThan(count / 2);
  });

  it('is refused at the same place after one character of it was changed', () => {
    fc.assert(
      fc.property(
        values,
        lengths,
        longLengths,
        fc.nat(),
        fc.constantFrom(...'{}[],:"0 x\\\n'),
        (value, sliceLength, longLength, at, other) => {
          const text = JSON.stringify(value);
          const place = at % text.length;
          const changed = text.slice(0, place) + other + text.slice(place + 1);
          expect(outcome(() => readInSlices(changed, { sliceLength, longLength }).value)).toEqual(
            outcome(() => parseLosslessJson(changed)),
          );
        },
      ),
      { numRuns: runs({ daily: 500, full: 5_000 }) },
    );
  });

  it('has the same long strings, or is refused at the same place, wherever they are cut', () => {
    const good = [
      'a',
      ' ',
      'é',
      '😀',
      '\\\\',
      '\\"',
      '\\/',
      '\\n',
      '\\u0041',
      '\\u00e9',
      '\\ud83d\\ude00',
      '\\ud83d',
    ];
    const bad = ['\\x', '\\u', '\\u12', '\\u00g0', '\n', '"', '\\'];
    const parts = fc.array(fc.constantFrom(...good, ...good, ...bad), { minLength: 1, maxLength: 40 });
    const content = fc.oneof(parts, fc.array(fc.constantFrom(...good), { minLength: 1, maxLength: 40 }));
    let refused = 0;
    const count = runs({ daily: 1_000, full: 10_000 });
    fc.assert(
      fc.property(content, lengths, fc.constantFrom('', '1,"b",'), (pieces, sliceLength, before) => {
        const text = `[${before}"${pieces.join('')}", 2]`;
        const expected = outcome(() => parseLosslessJson(text));
        if (!('value' in (expected as object))) refused++;
        expect(outcome(() => readInSlices(text, { sliceLength, longLength: 1 }).value)).toEqual(expected);
      }),
      { numRuns: count },
    );
    expect(refused).toBeGreaterThan(count / 10);
    expect(refused).toBeLessThan(count / 2);
  });

  it('takes a slice for each piece of a long string', () => {
    for (const content of ['a'.repeat(1_000_000), 'a line\nand "another"\n'.repeat(50_000)]) {
      const text = JSON.stringify({ prompt: content, n: 1 });
      const { value, slices } = readInSlices(text);
      expect(value).toEqual({ prompt: content, n: 1 });
      expect(slices).toBeGreaterThanOrEqual(Math.floor(text.length / (32 * 1024)));
    }
  });

  it('is refused at the first bracket that is too deep', () => {
    const text = `[1,${'['.repeat(5)}1${']'.repeat(5)}]`;
    expect(() => readInSlices(text, { maxDepth: 4, sliceLength: 1 })).toThrow(
      'More than 4 nested levels at position 6',
    );
    expect(readInSlices(text, { maxDepth: 6, sliceLength: 1 }).value).toEqual([1, [[[[[1]]]]]]);
  });

  it('takes one slice when it is small, and many when it is large', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}` }));
    const text = JSON.stringify({ messages: [], deep: { list } });
    const { value, slices } = readInSlices(text);
    expect(value).toEqual({ messages: [], deep: { list } });
    expect(slices).toBe(Math.ceil(text.length / (32 * 1024)));
    expect(readInSlices('{"a": [1, 2]}').slices).toBe(1);
  });
});

function printBig(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `big ${value}` : value;
}
