// The only writer of feedback in ClickHouse. Group commit: all queued write commands are looked up, planned and
// inserted together as one block, because many small inserts make many small parts, and a block becomes visible as a
// whole. The write lock keeps other servers out meanwhile, so the looked-up state stays true until the block is stored.

import type { InsertedFeedback } from '@ortler/api';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { WriteLock } from '../../../db/clickhouse/write-lock.ts';
import { loadStoredIds } from './load-stored-ids.ts';
import { planWrites, type WriteOutcome } from './plan-writes.ts';
import { recordsOf, removedIdsOf, type WriteCommand } from './write-command.ts';

export interface FeedbackWriter {
  /** Resolves when the command is on disk. Throws: `ApiError` when it is refused; then nothing of it is stored. */
  write(command: WriteCommand): Promise<readonly InsertedFeedback[]>;
  /** Waits for the queued commands. */
  close(): Promise<void>;
}

/** Largest batch, unless a single command is larger. */
const MAX_BATCH_ROWS = 10_000;
/** Unit: UTF-16 units of payload text. */
const MAX_BATCH_LENGTH = 32 * 1024 * 1024;

interface QueuedCommand {
  readonly command: WriteCommand;
  readonly rowCount: number;
  readonly length: number;
  readonly resolve: (inserted: readonly InsertedFeedback[]) => void;
  readonly reject: (error: unknown) => void;
}

export function createFeedbackWriter(clickHouse: ClickHouse, lock: WriteLock): FeedbackWriter {
  const queue: QueuedCommand[] = [];
  let working: Promise<void> | undefined;

  const work = async () => {
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      const commands = batch.map(({ command }) => command);
      try {
        const outcomes = await lock.run(() => writeBatch(clickHouse, commands));
        for (const [index, outcome] of outcomes.entries()) settle(batch[index]!, outcome);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    working = undefined;
  };

  return {
    write(command) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly InsertedFeedback[]>();
      queue.push({ command, ...sizeOf(command), resolve, reject });
      working ??= work();
      return promise;
    },
    async close() {
      await working;
    },
  };
}

async function writeBatch(
  clickHouse: ClickHouse,
  commands: readonly WriteCommand[],
): Promise<readonly WriteOutcome[]> {
  const { rows, outcomes } = planWrites(commands, await loadStoredIds(clickHouse, commands));
  if (rows.length > 0) await clickHouse.insert('feedback', rows);
  return outcomes;
}

function settle({ resolve, reject }: QueuedCommand, outcome: WriteOutcome): void {
  if (outcome.kind === 'done') resolve(outcome.inserted);
  else reject(outcome.error);
}

/** Mutates: removes the commands of the batch from the front of the queue. */
function takeBatch(queue: QueuedCommand[]): readonly QueuedCommand[] {
  let [count, rowCount, length] = [0, 0, 0];
  for (const queued of queue) {
    rowCount += queued.rowCount;
    length += queued.length;
    if (count > 0 && (rowCount > MAX_BATCH_ROWS || length > MAX_BATCH_LENGTH)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

function sizeOf(command: WriteCommand): { readonly rowCount: number; readonly length: number } {
  const records = recordsOf(command);
  return {
    rowCount: records.length + removedIdsOf(command).length,
    length: records.reduce((sum, { payload_dump }) => sum + payload_dump.length, 0),
  };
}
