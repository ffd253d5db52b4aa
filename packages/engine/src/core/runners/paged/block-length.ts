// Tokens of a block of the paged KV cache, by device.

import { MIN_BLOCK_LENGTH } from '../../../graph-contract/index.ts';

/**
 * The shortest blocks that the device's best attention kernel takes. FlashAttention of the CUDA provider reads a tile of keys at a time,
 * which must not cross a block; tiles are the longer, the smaller heads are. With shorter blocks PagedAttention gathers the whole
 * context of every sequence, once for each head of queries, before it computes a prompt, and decodes with a kernel without matrix units.
 * Every kernel takes these lengths.
 *
 * Unit: tokens. Source: ONNX Runtime 1.30, contrib_ops/cuda/bert/paged_attention.cc (flash_min_block_size)
 */
export function blockLengthOn(device: 'webgpu' | 'cuda', headSize: number): number {
  if (device === 'webgpu') return MIN_BLOCK_LENGTH;
  if (headSize <= 64) return 256;
  return headSize <= 128 ? 128 : 64;
}
