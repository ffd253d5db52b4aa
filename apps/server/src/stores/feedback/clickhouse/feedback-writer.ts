// The one way feedback gets into ClickHouse. Whatever waits is looked up, planned and inserted together, in one block: many
// small writes would make many small parts, and a block is seen whole or not at all. Servers take turns, so what a turn
// has looked up stays true until its block is in.

import type { InsertedFeedback } from '@ortler/api';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { WriteLock } from '../../../db/clickhouse/write-lock.ts';
import { loadStoredIds } from './load-stored-ids.ts';
import { planWrites, type WriteOutcome } from './plan-writes.ts';
import { recordsOf, removedIdsOf, type WriteOrder } from './write-order.ts';

export interface FeedbackWriter {
  /** Resolves when the order is on the disk. Throws: `ApiError` when it is refused; then nothing of it is stored. */
  write(order: WriteOrder): Promise<readonly InsertedFeedback[]>;
  /** Waits for what was ordered. */
  close(): Promise<void>;
}

/** Largest turn, unless a single order is larger. */
const MAX_TURN_ROWS = 10_000;
/** Unit: UTF-16 units of payload text. */
const MAX_TURN_LENGTH = 32 * 1024 * 1024;

interface Waiting {
  readonly order: WriteOrder;
  readonly rowCount: number;
  readonly length: number;
  readonly resolve: (inserted: readonly InsertedFeedback[]) => void;
  readonly reject: (error: unknown) => void;
}

export function createFeedbackWriter(clickHouse: ClickHouse, lock: WriteLock): FeedbackWriter {
  const queue: Waiting[] = [];
  let working: Promise<void> | undefined;

  const work = async () => {
    while (queue.length > 0) {
      const turn = takeTurn(queue);
      try {
        const outcomes = await lock.run(() =>
          writeTurn(
            clickHouse,
            turn.map(({ order }) => order),
          ),
        );
        for (const [index, outcome] of outcomes.entries()) settle(turn[index]!, outcome);
      } catch (error) {
        for (const { reject } of turn) reject(error);
      }
    }
    working = undefined;
  };

  return {
    write(order) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly InsertedFeedback[]>();
      queue.push({ order, ...sizeOf(order), resolve, reject });
      working ??= work();
      return promise;
    },
    async close() {
      await working;
    },
  };
}

async function writeTurn(
  clickHouse: ClickHouse,
  orders: readonly WriteOrder[],
): Promise<readonly WriteOutcome[]> {
  const { rows, outcomes } = planWrites(orders, await loadStoredIds(clickHouse, orders));
  if (rows.length > 0) await clickHouse.insert('feedback', rows);
  return outcomes;
}

function settle({ resolve, reject }: Waiting, outcome: WriteOutcome): void {
  if (outcome.kind === 'done') resolve(outcome.inserted);
  else reject(outcome.error);
}

/** Mutates: takes orders off the front. */
function takeTurn(queue: Waiting[]): readonly Waiting[] {
  let [count, rowCount, length] = [0, 0, 0];
  for (const order of queue) {
    rowCount += order.rowCount;
    length += order.length;
    if (count > 0 && (rowCount > MAX_TURN_ROWS || length > MAX_TURN_LENGTH)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

function sizeOf(order: WriteOrder): { readonly rowCount: number; readonly length: number } {
  const records = recordsOf(order);
  return {
    rowCount: records.length + removedIdsOf(order).length,
    length: records.reduce((sum, { payload_dump }) => sum + payload_dump.length, 0),
  };
}
