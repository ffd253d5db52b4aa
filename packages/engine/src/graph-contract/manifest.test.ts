import { describe, expect, it } from 'vitest';
import { layerCaches } from './manifest.ts';

describe('layerCaches', () => {
  const shape = { layerCount: 2, kvHeadCount: 4, headSize: 64 };

  it('are alike unless the manifest says otherwise', () => {
    expect(layerCaches(shape)).toEqual([
      { kvHeadCount: 4, headSize: 64 },
      { kvHeadCount: 4, headSize: 64 },
    ]);
    const own = [
      { kvHeadCount: 1, headSize: 128 },
      { kvHeadCount: 4, headSize: 64, window: 8 },
    ];
    expect(layerCaches({ ...shape, layerCaches: own })).toBe(own);
  });
});
