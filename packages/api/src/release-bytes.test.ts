import { expect, it } from 'vitest';
import { releaseBytes } from './release-bytes.ts';

const LARGE = 20_000;

it('detaches the buffer of large bytes, which frees it at once', () => {
  const bytes = new Uint8Array(LARGE);
  releaseBytes(bytes);
  expect(bytes.buffer.detached).toBe(true);
});

it('leaves small bytes, those that share their buffer, and those that threads share', () => {
  const small = Buffer.from('small');
  const part = new Uint8Array(2 * LARGE).subarray(0, LARGE);
  const shared = new Uint8Array(new SharedArrayBuffer(LARGE));
  releaseBytes(small);
  releaseBytes(part);
  releaseBytes(shared);
  expect(small.toString()).toBe('small');
  expect(part).toHaveLength(LARGE);
  expect(shared).toHaveLength(LARGE);
});
