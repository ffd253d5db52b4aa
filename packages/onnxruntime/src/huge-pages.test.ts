import { describe, expect, it } from 'vitest';
import { allocateInHugePages } from './huge-pages.ts';

describe('allocateInHugePages', () => {
  it.runIf(process.platform === 'linux')(
    'takes buffers so large that the system gives them fresh pages, whatever the process has freed',
    () => {
      for (const byteLength of [1, 2 ** 21 + 3, 2 ** 25]) {
        const memory = allocateInHugePages(byteLength);
        expect(memory.byteLength).toBe(byteLength);
        expect(memory.buffer.byteLength).toBeGreaterThan(2 ** 25);
      }
    },
  );
});
