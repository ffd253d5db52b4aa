import { describe, expect, it } from 'vitest';
import { type BlockMemoryNeeds, countBlocks } from './block-memory.ts';

const GIB = 2 ** 30;
/** A block takes 2 * 4 * 16 * 2 * 64 * 2 = 32,768 bytes, of which 4,096 in each tensor. */
const NEEDS: BlockMemoryNeeds = {
  layerCount: 4,
  kvHeadCount: 2,
  headSize: 64,
  blockLength: 16,
  elementBytes: 2,
  contextLength: 1_024,
  maxSequences: 8,
  spareContexts: 4,
  weightBytes: GIB,
  keptBytes: 0,
};
const WHOLE_CONTEXTS = 12 * 64;

describe('countBlocks', () => {
  it('takes no more than running sequences and cached prefixes can fill', () => {
    expect(countBlocks(NEEDS, { device: 'webgpu', memoryBytes: 8 * GIB })).toBe(WHOLE_CONTEXTS);
    const one = { ...NEEDS, maxSequences: 1, spareContexts: 0 };
    expect(countBlocks(one, { device: 'webgpu', memoryBytes: 8 * GIB })).toBe(64);
  });

  it('leaves room for the weights and a part of the memory for everything else', () => {
    const memoryBytes = GIB + 400 * 32_768;
    // One block of the 300 is spare.
    expect(countBlocks(NEEDS, { device: 'webgpu', memoryBytes })).toBe(299);
    expect(countBlocks(NEEDS, { device: 'webgpu', memoryBytes, isSoftware: true })).toBe(99);
  });

  it('leaves room for logits and for rows of the sampler', () => {
    const facts = { device: 'webgpu', memoryBytes: GIB + 400 * 32_768 } as const;
    expect(countBlocks({ ...NEEDS, keptBytes: 200 * 32_768 }, facts)).toBe(149);
    const set = { ...NEEDS, cacheBytes: 101 * 32_768, keptBytes: GIB };
    expect(countBlocks(set, facts)).toBe(100);
  });

  it('takes what is set, whatever the device reports', () => {
    const needs = { ...NEEDS, cacheBytes: 101 * 32_768 };
    expect(countBlocks(needs, { device: 'webgpu' })).toBe(100);
    expect(countBlocks(needs, { device: 'webgpu', memoryBytes: 1 })).toBe(100);
  });

  it('makes no tensor larger than the device reaches', () => {
    expect(countBlocks(NEEDS, { device: 'webgpu', maxTensorBytes: 201 * 4_096 })).toBe(200);
  });

  it('has room for a conversation of each sequence where the memory is unknown', () => {
    expect(countBlocks({ ...NEEDS, contextLength: 32_768 }, { device: 'webgpu' })).toBe(2_048);
    expect(countBlocks({ ...NEEDS, contextLength: 32_768, maxSequences: 16 }, { device: 'webgpu' })).toBe(
      2_048,
    );
    expect(countBlocks(NEEDS, { device: 'webgpu' })).toBe(WHOLE_CONTEXTS);
  });

  it.each([
    [
      { cacheBytes: 50 * 32_768 },
      {},
      'tuning.cacheBytes',
      /room for 784 tokens in 1638400 bytes.*raise tuning.cacheBytes/,
    ],
    [{}, { memoryBytes: GIB }, 'contextLength', /room for 0 tokens.*lower contextLength\./],
    [{}, { maxTensorBytes: 10 * 4_096 }, 'contextLength', /room for 144 tokens in tensors of 40960 bytes/],
  ])('refuses a cache that does not hold one context: %j %j', (change, facts, parameter, message) => {
    expect(() => countBlocks({ ...NEEDS, ...change }, { device: 'webgpu', ...facts })).toThrow(
      expect.objectContaining({ code: 'model_invalid', parameter, message: expect.stringMatching(message) }),
    );
  });
});
