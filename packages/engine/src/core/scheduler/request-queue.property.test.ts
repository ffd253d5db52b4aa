import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSequence } from '../../testing/create-sequence.ts';
import type { Sequence } from '../sequence.ts';
import { RequestQueue } from './request-queue.ts';

describe('RequestQueue', () => {
  it('behaves as a plain list that is served from the front', () => {
    const actions = fc.array(fc.constantFrom('push', 'push', 'shift', 'remove'), { maxLength: 400 });
    fc.assert(
      fc.property(actions, fc.infiniteStream(fc.nat()), (steps, picks) => {
        const queue = new RequestQueue();
        const model: Sequence[] = [];
        steps.forEach((action, index) => {
          if (action === 'push') {
            const sequence = createSequence(index);
            queue.push(sequence);
            model.push(sequence);
          } else if (action === 'shift') {
            expect(queue.shift()).toBe(model.shift());
          } else {
            const pick: number = picks.next().value;
            const [removed] = model.splice(pick % Math.max(model.length, 1), 1);
            if (removed !== undefined) queue.remove(removed);
          }
          expect(queue.length).toBe(model.length);
          expect(queue.peek()).toBe(model[0]);
        });
      }),
    );
  });

  it('ignores the removal of a sequence that was served already', () => {
    const queue = new RequestQueue();
    const [first, second] = [createSequence(1), createSequence(2)];
    queue.push(first);
    queue.push(second);
    queue.shift();
    queue.remove(first);
    expect(queue.shift()).toBe(second);
    expect(queue.shift()).toBeUndefined();
  });
});

describe('service order', () => {
  it('is by priority, then by arrival, wherever a sequence comes back from', () => {
    const entries = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 30 });
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.nat()), (priorities, picks) => {
        const queue = new RequestQueue();
        priorities.forEach((priority, requestId) => {
          queue.push(createSequence(requestId, 1, { priority }));
          // Now and then one is served and comes back, like a preempted one.
          if (picks.next().value % 3 === 0) queue.push(queue.shift()!);
        });
        const served: Sequence[] = [];
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) served.push(next);
        const expected = [...served].sort(
          (a, b) => a.priority - b.priority || a.group.arrival - b.group.arrival,
        );
        expect(served).toHaveLength(priorities.length);
        expect(served).toEqual(expected);
      }),
    );
  });
});
