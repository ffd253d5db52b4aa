// A picture that a router keeps from the events alone, beside both kinds of cache: it predicts every cache hit, in whole blocks.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import type { CacheEvent } from '../../protocol/cache-event.ts';
import { admit, createSequence, release } from '../../testing/create-sequence.ts';
import type { Sequence } from '../sequence.ts';
import { BlockCacheManager } from './block-cache-manager.ts';
import { CacheEventLog } from './cache-event-log.ts';
import { SlotCacheManager } from './slot-cache-manager.ts';

const BLOCK_LENGTH = 4;
const CONTEXT_LENGTH = 32;

/** Blocks by what they follow and hold: a router knows no more. */
class Picture {
  readonly #hashes = new Map<string, number>();
  readonly #names = new Map<number, string>();

  apply(events: readonly CacheEvent[]): void {
    for (const event of events) {
      if (event.kind === 'removed') {
        for (const hash of event.blockHashes) {
          expect(this.#names.has(hash)).toBe(true);
          this.#hashes.delete(this.#names.get(hash)!);
          this.#names.delete(hash);
        }
        continue;
      }
      let parent = event.parentHash;
      for (const [index, hash] of event.blockHashes.entries()) {
        const tokens = event.tokenIds.slice(index * BLOCK_LENGTH, (index + 1) * BLOCK_LENGTH);
        const name = nameOf(parent, event.partition, tokens);
        expect(this.#names.has(hash)).toBe(false);
        if (parent !== null) expect(this.#names.has(parent)).toBe(true);
        this.#hashes.set(name, hash);
        this.#names.set(hash, name);
        parent = hash;
      }
    }
  }

  /** How many whole blocks of the prompt are cached; its last token is always computed. */
  predict(tokens: readonly number[], partition: string): number {
    let parent: number | null = null;
    let count = 0;
    for (; (count + 1) * BLOCK_LENGTH < tokens.length; count++) {
      const block = tokens.slice(count * BLOCK_LENGTH, (count + 1) * BLOCK_LENGTH);
      const hash: number | undefined = this.#hashes.get(nameOf(parent, partition, block));
      if (hash === undefined) break;
      parent = hash;
    }
    return count;
  }
}

function nameOf(parent: number | null, partition: string, tokens: readonly number[]): string {
  return JSON.stringify([parent ?? partition, tokens]);
}

const MANAGERS = {
  slots: (events: CacheEventLog) =>
    new SlotCacheManager(
      { copySlot: () => undefined, swapSlots: () => undefined },
      {
        slotCount: 4,
        maxSequences: 3,
        prefixCaching: true,
        blockLength: BLOCK_LENGTH,

        events,
      },
    ),
  blocks: (events: CacheEventLog) =>
    new BlockCacheManager(
      { copyBlock: () => undefined },
      {
        blockCount: 14,
        blockLength: BLOCK_LENGTH,
        maxSequences: 3,
        contextLength: CONTEXT_LENGTH,
        prefixCaching: true,
        events,
      },
    ),
};

/** Few words, so that prompts share beginnings. */
const request = fc.record({
  prompt: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 20 }),
  partition: fc.constantFrom('', 'other'),
  outputLength: fc.nat(8),
  end: fc.constantFrom('kept', 'kept', 'dropped', 'open'),
});

describe.each(['slots', 'blocks'] as const)('events of the cache of %s', kind => {
  it('predict every cache hit in whole blocks', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 40 }), requests => {
        const log = new CacheEventLog();
        const manager = MANAGERS[kind](log);
        const picture = new Picture();
        const open: Sequence[] = [];
        for (const [id, { prompt, partition, outputLength, end }] of requests.entries()) {
          const sequence = createSequence(id, prompt.length, {
            promptTokenIds: Int32Array.from(prompt),
            cachePartition: partition,
          });
          while (manager.freeCount === 0) release(manager, open.shift()!, { keepsPrefix: true });
          picture.apply(log.take());
          let predicted = picture.predict(prompt, partition);
          while (!admit(manager, sequence)) {
            release(manager, open.shift()!, { keepsPrefix: true });
            picture.apply(log.take());
            predicted = picture.predict(prompt, partition);
          }
          expect(Math.floor(sequence.computedLength / BLOCK_LENGTH)).toBe(predicted);
          sequence.computedLength = sequence.tokenCount;
          sequence.append(1);
          manager.publish(sequence);
          for (let token = 0; token < outputLength; token++) {
            if (!manager.reserve(sequence, sequence.tokenCount)) break;
            sequence.computedLength = sequence.tokenCount;
            sequence.append(1 + (token % 2));
            manager.publish(sequence);
          }
          if (end === 'open') open.push(sequence);
          else release(manager, sequence, { keepsPrefix: end === 'kept' });
          picture.apply(log.take());
          expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
        }
      }),
      { numRuns: runs({ daily: 200, full: 2_000 }) },
    );
  });
});

describe('CacheEventLog', () => {
  it('joins blocks that follow each other, and is empty once it was read', () => {
    const log = new CacheEventLog();
    const tokenIds = Int32Array.of(1, 2, 3, 4);
    log.stored({ hash: 7, parent: null, partition: 'p', tokenIds, start: 0, length: 2 });
    log.stored({ hash: 8, parent: 7, partition: 'p', tokenIds, start: 2, length: 2 });
    log.removed(8);
    log.removed(7);
    expect(log.take()).toEqual([
      { kind: 'stored', blockHashes: [7, 8], parentHash: null, partition: 'p', tokenIds: [1, 2, 3, 4] },
      { kind: 'removed', blockHashes: [8, 7] },
    ]);
    expect(log.take()).toEqual([]);
  });
});
