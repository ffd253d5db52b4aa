import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSequence } from '../../testing/create-sequence.ts';
import type { Sequence } from '../sequence.ts';
import { findKvCacheViolations } from './kv-cache-invariants.ts';
import { SlotTable } from './slot-table.ts';

const SLOT_COUNT = 6;
const PROMPT_LENGTH = 5;

/** A sequence becomes a decode: its prompt is computed and one token was drawn. */
function finishPrompt(sequence: Sequence): void {
  sequence.computedLength = sequence.promptLength;
  sequence.append(1);
}

describe('SlotTable', () => {
  it('keeps slots dense, decodes in front and contents with their owners, with at most two copies an end', () => {
    const actions = fc.array(
      fc.record({ kind: fc.constantFrom('admit', 'finish-prompt', 'end'), pick: fc.nat({ max: 99 }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(actions, steps => {
        /** What a real cache would hold: which request's keys are in each slot, and how many. */
        const contents: { owner: number; length: number }[] = [];
        let copyCount = 0;
        const table = new SlotTable(SLOT_COUNT, (from, to, length) => {
          copyCount++;
          expect(length).toBeLessThanOrEqual(contents[from]!.length);
          contents[to] = { owner: contents[from]!.owner, length };
        });
        steps.forEach(({ kind, pick }, requestId) => {
          const owners = table.owners;
          if (kind === 'admit' && table.freeCount > 0) {
            const sequence = createSequence(requestId, PROMPT_LENGTH);
            sequence.computedLength = pick % 3;
            contents[table.occupy(sequence)] = { owner: requestId, length: sequence.computedLength };
          } else if (kind === 'finish-prompt') {
            const next = owners.find(sequence => sequence.pendingCount > 1);
            if (next !== undefined) {
              finishPrompt(next);
              contents[next.slot!] = { owner: next.group.requestId, length: next.computedLength };
            }
          } else if (kind === 'end' && owners.length > 0) {
            copyCount = 0;
            const ended = owners[pick % owners.length]!;
            table.release(ended);
            table.release(ended);
            expect(copyCount).toBeLessThanOrEqual(2);
            expect(ended.slot).toBeNull();
          }
          const snapshot = { slotCount: SLOT_COUNT, contextLength: 100, owners: table.owners };
          expect(findKvCacheViolations(snapshot)).toEqual([]);
          table.owners.forEach((sequence, slot) => {
            if (sequence.computedLength === 0) return;
            expect(contents[slot]).toEqual({
              owner: sequence.group.requestId,
              length: sequence.computedLength,
            });
          });
        });
      }),
    );
  });
});

describe('findKvCacheViolations', () => {
  function snapshotOf(...owners: Sequence[]) {
    owners.forEach((sequence, slot) => {
      sequence.slot = slot;
    });
    return { slotCount: 2, contextLength: 10, owners };
  }

  it('finds nothing wrong with decodes in front of prefilling sequences', () => {
    const decode = createSequence(1);
    finishPrompt(decode);
    expect(findKvCacheViolations(snapshotOf(decode, createSequence(2)))).toEqual([]);
  });

  it('names each kind of violation', () => {
    const [prefilling, decode] = [createSequence(1), createSequence(2)];
    finishPrompt(decode);
    expect(findKvCacheViolations(snapshotOf(prefilling, decode))).toEqual([
      'Sequence 2/0 in slot 1 decodes behind the prefilling slot 0.',
    ]);

    const tooLong = createSequence(3, 11);
    expect(findKvCacheViolations(snapshotOf(tooLong))[0]).toContain('longer than the context');

    const idle = createSequence(4);
    idle.computedLength = 3;
    expect(findKvCacheViolations(snapshotOf(idle))[0]).toContain('no pending token');

    const early = createSequence(5);
    early.append(1);
    expect(findKvCacheViolations(snapshotOf(early))[0]).toContain('before its prompt is computed');

    const ended = createSequence(6);
    ended.group.openSequences.clear();
    expect(findKvCacheViolations(snapshotOf(ended))[0]).toContain('has ended');

    const moved = snapshotOf(createSequence(7));
    moved.owners[0]!.slot = 1;
    expect(findKvCacheViolations(moved)[0]).toContain('believes its slot is 1');

    const twice = createSequence(8);
    expect(findKvCacheViolations(snapshotOf(twice, twice))).toContain('A sequence owns two slots.');
    const many = snapshotOf(createSequence(9), createSequence(10), createSequence(11));
    expect(findKvCacheViolations(many)).toContain('3 sequences own slots but there are 2.');
  });
});
