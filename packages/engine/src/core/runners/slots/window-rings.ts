// The pool of pieces of rings: positions of layers with a window that are kept for prefix caching after their ring has overwritten them.
// One array for each array of the store whose layer has a ring,
//
//     [pieceCount, kvHeadCount, PIECE_LENGTH, rowLength]
//
// Memory of pieces that were never saved costs nothing, see `untouched-arrays.ts`.

import { assertInvariant, EngineError } from '../../../errors.ts';
import type { WindowRings } from '../model-runner.ts';
import type { KvArray, KvPool } from './slot-store.ts';
import { KEPT_BYTES } from './state-store.ts';
import { type ArrayType, allocateUntouched } from './untouched-arrays.ts';

/**
 * A divisor of the pieces of keys that a ring is made of, and whole groups of tokens. Few prefixes need more than a window rounded up to
 * such pieces. Unit: tokens.
 */
const PIECE_LENGTH = 64;

/** What decides the pool. Unit: tokens. */
export interface RingDemand {
  readonly window: number;
  readonly capacity: number;
  readonly slotCount: number;
  readonly contextLength: number;
}

/** Throws: `engine_failed` when there is no room for the pool. */
export function createWindowRings(
  pools: readonly KvPool[],
  { window, capacity, slotCount, contextLength }: RingDemand,
): WindowRings & { readonly byteLength: number } {
  const elements = ({ kvHeadCount, rowLength }: KvPool) => kvHeadCount * PIECE_LENGTH * rowLength;
  const pieceBytes = pools.reduce((sum, pool) => sum + elements(pool) * pool.data.BYTES_PER_ELEMENT, 0);
  const most = slotCount * Math.ceil((contextLength - capacity) / PIECE_LENGTH);
  const pieceCount = Math.min(most, Math.floor(KEPT_BYTES / pieceBytes));
  const pieces = allocate(
    pools,
    pools.map(pool => pieceCount * elements(pool)),
  );

  /** Calls `copy` for each run of memory: where it begins in the ring and in the pool. */
  const eachRun = (
    [slot, start, entry]: readonly [number, number, number],
    copy: (ring: KvArray, piece: KvArray, ringStart: number, pieceStart: number, length: number) => void,
  ): void => {
    assertInvariant(start % PIECE_LENGTH === 0, 'pieces begin at multiples of their length');
    assertInvariant(entry >= 0 && entry < pieceCount, 'a piece is an entry of the pool');
    for (const [index, { data, kvHeadCount, rowLength }] of pools.entries()) {
      const length = PIECE_LENGTH * rowLength;
      for (let head = 0; head < kvHeadCount; head++) {
        const ringStart = ((slot * kvHeadCount + head) * capacity + (start % capacity)) * rowLength;
        copy(data, pieces[index]!, ringStart, (entry * kvHeadCount + head) * length, length);
      }
    }
  };
  return {
    window,
    capacity,
    pieceLength: PIECE_LENGTH,
    pieceCount,
    byteLength: pieceCount * pieceBytes,
    save: (...place) =>
      eachRun(place, (ring, piece, ringStart, pieceStart, length) =>
        piece.set(ring.subarray(ringStart, ringStart + length), pieceStart),
      ),
    load: (...place) =>
      eachRun(place, (ring, piece, ringStart, pieceStart, length) =>
        ring.set(piece.subarray(pieceStart, pieceStart + length), ringStart),
      ),
  };
}

/** Arrays of the type of the pools, which is one. */
function allocate(pools: readonly KvPool[], lengths: readonly number[]): KvArray[] {
  const [first] = pools;
  if (first === undefined) return [];
  const Type = first.data.constructor as ArrayType<KvArray>;
  try {
    return allocateUntouched(Type, lengths);
  } catch (cause) {
    const bytes = Type.BYTES_PER_ELEMENT * lengths.reduce((sum, length) => sum + length, 0);
    const message = `Pieces of rings take up to ${bytes / 2 ** 20} MiB, which cannot be reserved; lower maxSequences.`;
    throw new EngineError('engine_failed', message, { cause });
  }
}
