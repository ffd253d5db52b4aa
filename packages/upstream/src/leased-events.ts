// Events of a stream that holds its server until it ends or is left, whichever comes first.

import type { Lease } from './server-pool.ts';

export interface LeasedEvents {
  readonly events: AsyncGenerator<string, void, undefined>;
  /** The first event, which was waited for. */
  readonly first: IteratorResult<string, void>;
  readonly lease: Lease;
  readonly outcomeOf: (error: unknown) => Parameters<Lease['end']>[0];
}

/** All events, the first one included. `return` ends the request, also before the first was taken. */
export function leasedEvents({
  events,
  first,
  lease,
  outcomeOf,
}: LeasedEvents): AsyncIterableIterator<string, void> {
  let waiting: IteratorResult<string, void> | undefined = first;
  let isOver = false;
  const end = (outcome: Parameters<Lease['end']>[0]) => {
    if (isOver) return;
    isOver = true;
    lease.end(outcome);
  };
  if (first.done === true) end('succeeded');
  return {
    async next() {
      const known = waiting;
      waiting = undefined;
      if (known !== undefined) return known;
      try {
        const step = await events.next();
        if (step.done === true) end('succeeded');
        return step;
      } catch (error) {
        end(outcomeOf(error));
        throw error;
      }
    },
    async return() {
      waiting = undefined;
      await events.return();
      end('left');
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
