// A runner with scripted logits: the calls are those of the runner inside, or none, and the logits are
// bent so that the text of each request comes out. So a constrained answer and a free one are the same tokens.

import type { RunnerFacts, RunnerRow, SlotModelRunner } from '@ortler/engine/testing';
import { createLargeLogits, LARGE_VOCAB_SIZE } from './large-logits.ts';

/** Far above what any model gives. */
const TOLD_LOGIT = 1_000;

export class ScriptedRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly facts: RunnerFacts;
  callCount = 0;
  readonly #runner: SlotModelRunner | null;
  readonly #logits: Float32Array;
  readonly #prepared: Float32Array;
  /** What comes after a prompt that begins with this token: tokens of the answer. */
  readonly #answers: readonly (readonly number[])[];
  readonly #promptLength: number;
  readonly #answerOfSlot: number[] = [];

  /** The first token of a prompt is the index of its answer. Without `runner` no time passes in the model. */
  constructor(
    answers: readonly (readonly number[])[],
    promptLength: number,
    slotCount: number,
    runner: SlotModelRunner | null,
  ) {
    this.#answers = answers;
    this.#promptLength = promptLength;
    this.#runner = runner;
    this.#prepared = createLargeLogits('peaked', slotCount);
    this.#logits = new Float32Array((slotCount + 16) * LARGE_VOCAB_SIZE);
    this.facts = runner?.facts ?? {
      kind: 'scripted',
      vocabSize: LARGE_VOCAB_SIZE,
      contextLength: 4096,
      slotCount,
      logitsLimit: slotCount + 16,
      backend: 'node',
      device: 'cpu',
      onnxRuntimeVersion: 'none',
      cacheBytes: 0,
    };
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    this.callCount++;
    const logits = this.#runner === null ? this.#copyPrepared(rows) : await this.#runner.run(rows);
    let index = 0;
    for (const { slot, tokenIds, computedLength, logitsCount } of rows) {
      if (computedLength === 0) this.#answerOfSlot[slot] = tokenIds[0]!;
      const answer = this.#answers[this.#answerOfSlot[slot]!]!;
      const end = computedLength + tokenIds.length - this.#promptLength;
      for (let i = logitsCount - 1; i >= 0; i--, index++)
        logits[index * LARGE_VOCAB_SIZE + (answer[end - i] ?? 0)] = TOLD_LOGIT;
    }
    return logits;
  }

  copySlot(from: number, to: number, length: number): void {
    this.#answerOfSlot[to] = this.#answerOfSlot[from]!;
    this.#runner?.copySlot(from, to, length);
  }

  swapSlots(a: number, b: number, length: number): void {
    const [first, second] = [this.#answerOfSlot[a]!, this.#answerOfSlot[b]!];
    this.#answerOfSlot[a] = second;
    this.#answerOfSlot[b] = first;
    this.#runner?.swapSlots(a, b, length);
  }

  async close(): Promise<void> {
    await this.#runner?.close();
  }

  /** What was masked in the step before must not be seen again. */
  #copyPrepared(rows: readonly RunnerRow[]): Float32Array {
    const count = rows.reduce((sum, { logitsCount }) => sum + logitsCount, 0);
    for (let row = 0; row < count; row++)
      this.#logits.set(this.#prepared.subarray(0, LARGE_VOCAB_SIZE), row * LARGE_VOCAB_SIZE);
    return this.#logits.subarray(0, count * LARGE_VOCAB_SIZE);
  }
}
