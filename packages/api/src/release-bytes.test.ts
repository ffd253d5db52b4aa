import { expect, it } from 'vitest';
import { releaseBytes } from './release-bytes.ts';

const LARGE = 300_000;

it('frees a large buffer at once', () => {
  const before = process.memoryUsage().arrayBuffers;
  const bytes = new Uint8Array(64 * LARGE);
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThanOrEqual(64 * LARGE);
  releaseBytes(bytes);
  expect(bytes).toHaveLength(0);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * LARGE);
});

it('leaves small bytes, and those that share their buffer', () => {
  const small = Buffer.from('small');
  const part = new Uint8Array(2 * LARGE).subarray(0, LARGE);
  releaseBytes(small);
  releaseBytes(part);
  expect(small.toString()).toBe('small');
  expect(part).toHaveLength(LARGE);
});
