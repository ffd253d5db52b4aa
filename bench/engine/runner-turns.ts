// Steps of runners in turns: the parts that benchmarks of single model calls share.

import type { RunnerRow, SlotModelRunner } from '@ortler/engine/testing';
import { median } from '../median.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';

const FILL_CHUNK = 128;

export interface Contestant {
  readonly name: string;
  readonly runner: SlotModelRunner;
  /** Rows of this variant, in place of the shared ones. */
  readonly change?: (row: RunnerRow) => RunnerRow;
}

/** Milliseconds of a call, medians over the turns, and the median of the ratios of the first two within turns. */
export async function interleave(
  contestants: readonly Contestant[],
  rows: readonly RunnerRow[],
  turnCount: number,
) {
  const times = contestants.map((): number[] => []);
  // The first turn only warms up.
  for (let turn = -1; turn < turnCount; turn++) {
    for (const [index, { runner, change = (row: RunnerRow) => row }] of contestants.entries()) {
      const own = rows.map(change);
      const startedMs = performance.now();
      await runner.run(own);
      if (turn >= 0) times[index]!.push(performance.now() - startedMs);
    }
  }
  const ratios = times[0]!.map((ms, turn) => ms / times[1]![turn]!);
  const medians = contestants.map(({ name }, index) => [name, rounded(median(times[index]!))] as const);
  return { ...Object.fromEntries(medians), timesFaster: rounded(median(ratios)) };
}

/** One token for each of the first slots, which have about `context` tokens: lengths differ, as those of real sequences do. */
export function decodeRows(count: number, context: number): RunnerRow[] {
  return Array.from({ length: count }, (_, slot): RunnerRow => {
    const computedLength = context - slot;
    return { slot, tokenIds: tokens(computedLength, 1), computedLength, logitsCount: 1 };
  });
}

/** Computes the tokens `[from, to)` of slot 0 and copies it to all others. */
export async function fillSlots(runner: SlotModelRunner, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += FILL_CHUNK) {
    const length = Math.min(FILL_CHUNK, to - start);
    const row = { slot: 0, tokenIds: tokens(start, length), computedLength: start };
    await runner.run([{ ...row, logitsCount: 0 }]);
  }
  for (let slot = 1; slot < runner.facts.slotCount; slot++) runner.copySlot(0, slot, to);
}

/** Root of the mean squared difference over the root of the mean square. */
export function differenceShare(logits: Float32Array, exact: Float32Array): number {
  let differences = 0;
  let squares = 0;
  for (const [i, logit] of exact.entries()) {
    differences += (logits[i]! - logit) ** 2;
    squares += logit ** 2;
  }
  return Math.sqrt(differences / squares);
}

export function tokens(start: number, length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => 256 + (((start + i) * 7919) % 48_000));
}

/** The numbers of an option. Throws: for one below `least`. */
export function readList(option: string, text: string, least = 1): number[] {
  return text.split(',').map(entry => (least === 0 && entry === '0' ? 0 : readCount(option, entry)));
}
