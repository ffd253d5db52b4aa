import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toPayloadDump, toStorableText } from './storable-json.ts';

const anyValue = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\0')),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, undefined, new Date(0)),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.constant('__proto__')), tie('value')),
  ),
})).value;

it('is the text of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyValue), async value => {
      expect(await toStorableText(value, 'payload')).toBe(JSON.stringify(value));
      expect(await toStorableText({ value }, 'payload')).toBe(JSON.stringify({ value }));
    }),
  );
});

it('writes large values too, and integers of any size as doubles', async () => {
  const large = Array.from({ length: 5_000 }, (_, index) => ({
    [`k${index}`]: [index, `ü${index}`, undefined],
  }));
  expect(await toStorableText(large, 'payload')).toBe(JSON.stringify(large));
  expect(await toStorableText({ a: 2n ** 63n }, 'payload')).toBe('{"a":9223372036854776000}');
});

it('keeps the digits of integers within 64 bits in payloads', async () => {
  const [min, max] = [-(2n ** 63n), 2n ** 64n - 1n];
  expect(await toPayloadDump({ a: [min, max] })).toBe(`{"a":[${min},${max}]}`);
  expect(await toPayloadDump({ a: [min - 1n, max + 1n] })).toBe(
    '{"a":[-9223372036854776000,18446744073709552000]}',
  );
});

it('names what no database stores', async () => {
  for (const value of [{ a: '\0' }, { '\ud800': 1 }, [Number.NaN], [Number.NEGATIVE_INFINITY]])
    await expect(toStorableText(value, 'payload')).rejects.toMatchObject({ reason: 'invalid_parameter' });
  let deep: object = [];
  for (let level = 0; level < 128; level++) deep = [deep];
  await expect(toStorableText(deep, 'payload')).rejects.toThrow('nested deeper than 128 levels');
});
