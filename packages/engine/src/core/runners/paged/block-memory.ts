// How many blocks the KV cache of a device has: arithmetic over the memory of the device, the needs of the model and the
// settings.

import type { OrtDeviceFacts } from '@ortler/onnxruntime';
import { EngineError } from '../../../errors.ts';

export interface BlockMemoryNeeds {
  readonly layerCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  /** Tokens of a block. */
  readonly blockLength: number;
  /** Unit: bytes of a number in the cache. */
  readonly elementBytes: number;
  readonly contextLength: number;
  readonly maxSequences: number;
  /** Number of whole contexts to leave room for besides those of running sequences, for cached prefixes. */
  readonly spareContexts: number;
  /** Unit: bytes that the model's weights take on the device. */
  readonly weightBytes: number;
  /**
   * Unit: bytes for everything else that stays on the device as long as the model is loaded: logits, and rows
   * of its sampler.
   */
  readonly keptBytes: number;
  /** Unit: bytes for the whole cache. Absent: what is left of the device. */
  readonly cacheBytes?: number | undefined;
}

/**
 * Share of the remaining memory that the cache takes by default; the rest is for activations and other
 * programs.
 */
const DEVICE_SHARE = 0.75;
/** The share where device and CPU share their memory. */
const SHARED_MEMORY_SHARE = 0.25;
/** Tokens of each sequence where the memory of the device is unknown: a long conversation. */
const TOKENS_WITHOUT_FACTS = 2_048;

/**
 * As many blocks as the setting or the device has room for, but no more than running sequences and some
 * prefixes can fill.
 * Throws: `model_invalid` when not even one whole context has room, with what to change.
 */
export function countBlocks(needs: BlockMemoryNeeds, facts: OrtDeviceFacts): number {
  const { layerCount, kvHeadCount, headSize, blockLength, elementBytes } = needs;
  const { contextLength, maxSequences, cacheBytes } = needs;
  const tensorBytes = blockLength * kvHeadCount * headSize * elementBytes;
  const blockBytes = 2 * layerCount * tensorBytes;
  const contextBlocks = Math.ceil(contextLength / blockLength);
  const available = cacheBytes ?? availableBytes(needs, facts);
  // One block more is spare: padding is written there.
  const inMemory =
    available === undefined ? Number.POSITIVE_INFINITY : Math.floor(available / blockBytes) - 1;
  const inTensor =
    facts.maxTensorBytes === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(facts.maxTensorBytes / tensorBytes) - 1;
  const useful = (maxSequences + needs.spareContexts) * contextBlocks;
  const withoutFacts = Math.max(
    contextBlocks,
    Math.ceil((maxSequences * TOKENS_WITHOUT_FACTS) / blockLength),
  );
  const wanted = available === undefined ? Math.min(useful, withoutFacts) : useful;
  const count = Math.min(wanted, inMemory, inTensor);
  if (count >= contextBlocks) return count;
  const room = Math.max(0, count) * blockLength;
  const limit =
    inTensor < inMemory
      ? `tensors of ${facts.maxTensorBytes} bytes, the most that the device reaches`
      : `${available} bytes`;
  throw new EngineError(
    'model_invalid',
    `The cache has room for ${room} tokens in ${limit}, which is less than contextLength ${contextLength}; lower contextLength${cacheBytes === undefined ? '' : ' or raise tuning.cacheBytes'}.`,
    { parameter: cacheBytes === undefined || inTensor < inMemory ? 'contextLength' : 'tuning.cacheBytes' },
  );
}

/** Undefined where the memory of the device is unknown. */
function availableBytes(
  { weightBytes, keptBytes }: BlockMemoryNeeds,
  facts: OrtDeviceFacts,
): number | undefined {
  const { memoryBytes, isSoftware = false } = facts;
  if (memoryBytes === undefined) return undefined;
  return (
    Math.max(0, memoryBytes - weightBytes - keptBytes) * (isSoftware ? SHARED_MEMORY_SHARE : DEVICE_SHARE)
  );
}
