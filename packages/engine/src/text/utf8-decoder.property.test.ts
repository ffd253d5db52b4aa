import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, test } from 'vitest';
import { Utf8Decoder } from './utf8-decoder.ts';

const bytes = fc.uint8Array({ maxLength: 40 });
// Lead and continuation bytes in valid and invalid order: random bytes alone hardly ever form long characters.
const nearlyUtf8 = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2 }).map(text => [...Buffer.from(text.toWellFormed())]),
      fc.constantFrom(
        ...[0xe0, 0xed, 0xf0, 0xf4, 0x80, 0x9f, 0xa0, 0x8f, 0x90, 0xbf, 0xc0, 0xc2, 0xf5, 0xef, 0xbb].map(
          byte => [byte],
        ),
      ),
    ),
    { maxLength: 20 },
  )
  .map(parts => Uint8Array.from(parts.flat()));

test('gives what the platform decoder gives, whatever the division into pieces', () => {
  fc.assert(
    fc.property(fc.oneof(bytes, nearlyUtf8), fc.array(fc.nat(5)), (all, cuts) => {
      const decoder = new Utf8Decoder('maximal-part');
      let text = '';
      let at = 0;
      for (const length of cuts) {
        text += decoder.push(all.subarray(at, at + length));
        at += length;
      }
      text += decoder.push(all.subarray(at)) + decoder.finish();
      expect(text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(all));
    }),
    { numRuns: runs({ daily: 100, full: 500 }) },
  );
});

test('replaces each byte of a cut character when asked to', () => {
  const decoder = new Utf8Decoder('each-byte');
  expect(decoder.push(Uint8Array.of(0xf0, 0x9f, 0x98, 0x41, 0xe2))).toBe('\ufffd\ufffd\ufffdA');
  expect(decoder.finish()).toBe('\ufffd');
});
