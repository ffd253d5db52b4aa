// Decides what the next step computes: every running answer gets its next token, prompts share the token budget
// in service order, waiting sequences are admitted while room and budget last. It asks the cache manager for room
// and is the only one besides `commit-step.ts` that changes sequences.

import type { KvCacheManager } from '../kv-cache/kv-cache-manager.ts';
import type { Sequence } from '../sequence.ts';
import type { Drafter } from '../speculative-decoding/drafter.ts';
import { planRow, wantsPromptLogits } from './plan-row.ts';
import { RequestQueue } from './request-queue.ts';
import { compareService, findPlace } from './service-order.ts';
import type { PlannedRow, StepPlan } from './step-plan.ts';
import { type PrefillLimits, TokenBudget } from './token-budget.ts';

interface DraftedSequence {
  readonly sequence: Sequence;
  readonly draftLength: number;
}

export class Scheduler {
  readonly #cache: KvCacheManager;
  readonly #budget: TokenBudget;
  readonly #queue = new RequestQueue();
  /** Sequences with a place in the cache (a slot), in service order. */
  readonly #running: Sequence[] = [];
  /** Paused sequences without a slot: they do not wait for one either. */
  readonly #parked = new Set<Sequence>();
  #preemptionCount = 0;
  /** Refilled by every plan. */
  readonly #plan: { readonly rows: PlannedRow[] } = { rows: [] };
  readonly #decodes: Sequence[] = [];
  readonly #drafted: DraftedSequence[] = [];
  readonly #drafter: Drafter | null;

  /** `drafter`: null for steps of one token per answer. */
  constructor(cache: KvCacheManager, limits: PrefillLimits, drafter: Drafter | null = null) {
    this.#cache = cache;
    this.#budget = new TokenBudget(limits);
    this.#drafter = drafter;
  }

  /** Sequences with a slot, in service order. */
  get running(): readonly Sequence[] {
    return this.#running;
  }

  /** Sequences without a slot, paused ones included. */
  get waitingCount(): number {
    return this.#queue.length + this.#parked.size;
  }

  /** Sequences that wait for a slot. */
  get queuedCount(): number {
    return this.#queue.length;
  }

  /** Slots that waiting sequences can have: free ones, and those of paused sequences, which give way. */
  get availableSlotCount(): number {
    let count = this.#cache.freeCount;
    for (const sequence of this.#running) if (sequence.isPaused) count++;
    return count;
  }

  /** How often a sequence lost its place before its end. */
  get preemptionCount(): number {
    return this.#preemptionCount;
  }

  /** Whether `plan` would find something to compute. */
  get hasWork(): boolean {
    return this.#queue.length > 0 || this.#running.some(sequence => !sequence.isPaused);
  }

  /** Mutates: the sequence waits in its place. */
  add(sequence: Sequence): void {
    this.#queue.push(sequence);
  }

  /** Forgets a sequence that ended, wherever it is. Mutates: frees its slot. */
  remove(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void {
    if (sequence.slot === null) {
      if (!this.#parked.delete(sequence)) this.#queue.remove(sequence);
      return;
    }
    this.#running.splice(this.#running.indexOf(sequence), 1);
    this.#cache.release(sequence, options);
  }

  /** A paused sequence gets no steps, and its slot goes to the next one that waits without a slot. */
  setPaused(sequence: Sequence, { isPaused }: { readonly isPaused: boolean }): void {
    if (sequence.isPaused === isPaused) return;
    sequence.isPaused = isPaused;
    if (sequence.slot !== null) return;
    if (isPaused) {
      this.#queue.remove(sequence);
      this.#parked.add(sequence);
    } else {
      this.#parked.delete(sequence);
      this.#queue.push(sequence);
    }
  }

  /**
   * The next step, or null when nothing can run. The plan is valid until the next call, which refills it.
   *
   * Decodes come first, in the order that the cache manager gives them; then those with drafts, then chunks of prompts.
   * Mutates: admits waiting sequences and preempts running ones.
   */
  plan(): StepPlan | null {
    const { rows } = this.#plan;
    rows.length = 0;
    this.#makeRoom();
    this.#budget.reset({ hasDecodes: this.#running.some(isDecode) });
    const chunks = this.#grantChunks();
    const decodes = this.#decodes;
    decodes.length = 0;
    for (const sequence of this.#running) if (isDecode(sequence)) decodes.push(sequence);
    const drafted = this.#takeDrafted({ isAlone: chunks.length === 0 });
    this.#cache.arrange(decodes);
    for (const sequence of decodes) rows.push(planRow(sequence, 1));
    // Only now: bringing the decodes into order may have moved the slots of others.
    for (const { sequence, draftLength } of drafted) rows.push(planRow(sequence, 1, draftLength));
    for (const { sequence, tokenCount } of chunks) rows.push(planRow(sequence, tokenCount));
    return rows.length === 0 ? null : this.#plan;
  }

  /**
   * Gives every running answer room for its next token, in service order: where none is left, the last ones give way.
   * The first one always finds room, as the cache holds at least one whole context. Prompts got their room when they
   * were admitted. Mutates: preempts running sequences.
   */
  #makeRoom(): void {
    const running = this.#running;
    for (let index = 0; index < running.length; index++) {
      const sequence = running[index]!;
      if (!isDecode(sequence)) continue;
      while (sequence.slot !== null && !this.#cache.reserve(sequence, sequence.tokenCount)) {
        this.#preempt(running.findLast(other => other.isPaused) ?? running.at(-1)!);
        // A paused one that gave way may have stood before this one.
        index = running.indexOf(sequence);
      }
    }
  }

  /** Mutates: takes the sequences that draft out of `#decodes`. */
  #takeDrafted({ isAlone }: { readonly isAlone: boolean }): readonly DraftedSequence[] {
    const drafted = this.#drafted;
    drafted.length = 0;
    const decodes = this.#decodes;
    if (this.#drafter === null || decodes.length === 0) return drafted;
    const lengths = this.#drafter.draft(decodes, { isAlone, logitsRoom: this.#budget.logitsLeft });
    let kept = 0;
    for (let index = 0; index < decodes.length; index++) {
      const sequence = decodes[index]!;
      // A prompt of one token whose log probabilities are asked for is a decode with logits that are not drawn from.
      const draftLength = wantsPromptLogits(sequence) ? 0 : lengths[index]!;
      const hasRoom = draftLength > 0 && this.#cache.reserve(sequence, sequence.tokenCount + draftLength);
      if (!hasRoom) decodes[kept++] = sequence;
      else drafted.push({ sequence, draftLength });
    }
    decodes.length = kept;
    return drafted;
  }

  /**
   * Shares the budget among prompts, running and waiting ones together in service order. The first waiting sequence
   * that finds no room ends the admissions of this step: nobody overtakes.
   */
  #grantChunks(): { readonly sequence: Sequence; readonly tokenCount: number }[] {
    const chunks: { sequence: Sequence; tokenCount: number }[] = [];
    const running = this.#running;
    let mayAdmit = true;
    let index = 0;
    while (!this.#budget.isSpent) {
      while (index < running.length && !isPrefill(running[index]!)) index++;
      const candidate = running[index];
      const waiting = mayAdmit ? this.#queue.peek() : undefined;
      if (waiting !== undefined && (candidate === undefined || compareService(waiting, candidate) < 0)) {
        mayAdmit = this.#admit(waiting);
        // All before its place had their turn; it is the next candidate if it is a prompt. Without room for it the
        // candidate is still the next one, unless it gave way.
        const next = mayAdmit ? waiting : candidate;
        index = next === undefined ? running.length : findPlace(running, next);
        continue;
      }
      if (candidate === undefined) break;
      const promptLogits = wantsPromptLogits(candidate);
      const { pendingCount, computedLength } = candidate;
      const tokenCount = this.#budget.grant({ pendingCount, computedLength, promptLogits });
      if (tokenCount > 0) chunks.push({ sequence: candidate, tokenCount });
      index++;
    }
    return chunks;
  }

  /** Whether the first waiting sequence was admitted. */
  #admit(sequence: Sequence): boolean {
    if (mustWaitForSibling(sequence)) return false;
    while (this.#cache.freeCount === 0 || !this.#cache.admit(sequence)) {
      const victim = this.#findVictim(sequence);
      if (victim === undefined) return false;
      this.#preempt(victim);
    }
    // Its place: one that was preempted for it may stand before it now.
    this.#queue.remove(sequence);
    this.#running.splice(findPlace(this.#running, sequence), 0, sequence);
    return true;
  }

  /** Who gives way: the last paused sequence; else the last running one, if its priority is lower. */
  #findVictim(waiting: Sequence): Sequence | undefined {
    const paused = this.#running.findLast(sequence => sequence.isPaused);
    if (paused !== undefined) return paused;
    const last = this.#running.at(-1);
    return last !== undefined && last.priority > waiting.priority ? last : undefined;
  }

  /** Mutates: takes the place away. What was computed stays cached if it can; the rest is computed again later. */
  #preempt(sequence: Sequence): void {
    this.remove(sequence, { keepsPrefix: true });
    this.#preemptionCount++;
    if (sequence.isPaused) this.#parked.add(sequence);
    else this.#queue.push(sequence);
  }
}

function isDecode(sequence: Sequence): boolean {
  return !sequence.isPaused && sequence.pendingCount === 1;
}

function isPrefill(sequence: Sequence): boolean {
  return !sequence.isPaused && sequence.pendingCount > 1;
}

/** A choice waits for the prompt that its sibling is computing instead of computing it again. */
function mustWaitForSibling(sequence: Sequence): boolean {
  const sharedLength = sequence.promptLength - 1;
  let isComputing = false;
  for (const other of sequence.group.openSequences) {
    if (other.slot === null) continue;
    if (other.computedLength >= sharedLength) return false;
    if (!other.isPaused) isComputing = true;
  }
  return isComputing;
}
