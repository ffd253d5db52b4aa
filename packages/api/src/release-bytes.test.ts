import { expect, it } from 'vitest';
import { releaseBytes } from './release-bytes.ts';

const LARGE = 300_000;

it('detaches the buffer of large bytes, which frees it at once', () => {
  const bytes = new Uint8Array(LARGE);
  releaseBytes(bytes);
  expect(bytes.buffer.detached).toBe(true);
});

it('leaves small bytes, and those that share their buffer', () => {
  const small = Buffer.from('small');
  const part = new Uint8Array(2 * LARGE).subarray(0, LARGE);
  releaseBytes(small);
  releaseBytes(part);
  expect(small.toString()).toBe('small');
  expect(part).toHaveLength(LARGE);
});
