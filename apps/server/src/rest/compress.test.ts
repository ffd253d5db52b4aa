import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { acceptsGzip, COMPRESSED_FROM_BYTES, compressBody } from './compress.ts';

it.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['br;q=1.0, GZIP;q=0.2', true],
  ['*', true],
  ['gzip;q=0, *', false],
  ['br', false],
  ['identity', false],
  [undefined, false],
])('%s accepts gzip: %s', (header, accepts) => {
  expect(acceptsGzip(header)).toBe(accepts);
});

it('compresses large bodies only, for clients that accept it', async () => {
  const large = 'é'.repeat(COMPRESSED_FROM_BYTES);
  const parts = [Buffer.from(large.slice(0, 9)), Buffer.from(large.slice(9))];
  const { parts: compressed, byteCount, headers } = await compressBody([Buffer.from(large)], 'gzip');
  expect(headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.concat(compressed)).toString()).toBe(large);
  expect(byteCount).toBe(Buffer.concat(compressed).length);
  expect(byteCount).toBeLessThan(large.length / 5);
  expect(await compressBody(parts, undefined)).toEqual({
    parts,
    byteCount: Buffer.byteLength(large),
    headers: { vary: 'Origin, Accept-Encoding' },
  });
  expect((await compressBody([Buffer.from('{}')], 'gzip')).headers).toEqual({});
});
