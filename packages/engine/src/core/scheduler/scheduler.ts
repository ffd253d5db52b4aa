// The scheduler of continuous batching: every running sequence gets its next token (decode), prompts share the token
// budget in service order (prefill), waiting sequences are admitted while cache and budget last. Between steps it is the
// only writer of sequences: it admits, preempts, releases and pauses them.

import { assertInvariant } from '../../errors.ts';
import type { SubmitMessage } from '../../protocol/messages.ts';
import type { Admission, KvCacheManager } from '../kv-cache/kv-cache-manager.ts';
import type { Sequence } from '../sequence.ts';
import type { Draft, Drafter } from '../speculative-decoding/drafter.ts';
import { FairShare } from './fair-share.ts';
import { RequestQueue } from './request-queue.ts';
import { compareService, findPlace } from './service-order.ts';
import { planRow, type RowShare, type StepPlan } from './step-plan.ts';
import { type PrefillLimits, TokenBudget } from './token-budget.ts';

export class Scheduler {
  readonly #cache: KvCacheManager;
  readonly #budget: TokenBudget;
  readonly #queue = new RequestQueue();
  readonly #fairShare = new FairShare();
  /** Sequences with a place in the cache (a slot), in service order. */
  readonly #running: Sequence[] = [];
  /** Paused sequences without a slot, which do not wait for one. */
  readonly #parked = new Set<Sequence>();
  readonly #drafter: Drafter | null;
  #preemptionCount = 0;

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

  /** Sequences of one share that wait for a slot. */
  countQueuedOf(share: string): number {
    return this.#queue.countOf(share);
  }

  /** Slots that waiting sequences can have: free ones, and those of paused sequences, which are preempted for them. */
  get availableSlotCount(): number {
    let count = this.#cache.freeCount;
    for (const sequence of this.#running) if (sequence.isPaused) count++;
    return count;
  }

  /** Number of preemptions. */
  get preemptionCount(): number {
    return this.#preemptionCount;
  }

  /** Whether `schedule` would find something to compute. */
  get hasWork(): boolean {
    return this.#queue.length > 0 || this.#running.some(sequence => !sequence.isPaused);
  }

  /** The turn of a request that arrives now; one that continues another was admitted already. */
  turnOf({ share = '', continues, promptTokenIds, maxTokens, choiceCount }: SubmitMessage): number {
    if (continues !== undefined) return this.#fairShare.virtualTime;
    return this.#fairShare.start(share, {
      promptTokenCount: promptTokenIds.length,
      maxOutputTokenCount: maxTokens * choiceCount,
    });
  }

  /** Mutates: the sequence is open and waits in its place. */
  add(sequence: Sequence): void {
    sequence.group.openSequences.add(sequence);
    this.#queue.push(sequence);
  }

  /** Removes a sequence that ended, running or waiting. Mutates: it is no longer open, and its slot is free. */
  remove(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void {
    sequence.group.openSequences.delete(sequence);
    if (sequence.place !== null) this.#release(sequence, options);
    else if (!this.#parked.delete(sequence)) this.#queue.remove(sequence);
    if (this.#running.length + this.waitingCount === 0) this.#fairShare.becomeIdle();
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
   * Decides the next step; null when nothing can run.
   *
   * Decodes come first, in the order that the cache manager gives them; then those with drafts, then chunks of prompts.
   * Mutates: admits waiting sequences and preempts running ones.
   *
   * @param nowMs When the step begins. Unit: milliseconds.
   */
  schedule(nowMs: number): StepPlan | null {
    this.#cache.startStep();
    this.#makeRoom();
    this.#budget.reset({ hasDecodes: this.#running.some(isDecode) });
    const chunks = this.#grantChunks();
    const { plain, drafted } = this.#draft({ isAlone: chunks.length === 0 });
    // Before any row is planned, because ordering the decodes may move the slots of others.
    const decodes = this.#arrange(plain);
    const rows = [...decodes, ...drafted, ...chunks].map(planRow);
    for (const { sequence } of rows) sequence.group.startedAtMs ??= nowMs;
    return rows.length === 0 ? null : { rows };
  }

  /**
   * Reserves cache memory for the next token of every running answer, in service order; when the cache is full, the last
   * sequences are preempted. The first one always fits, because the cache holds at least one whole context. Memory of prompts
   * was reserved at their admission. Mutates: preempts running sequences.
   */
  #makeRoom(): void {
    const running = this.#running;
    for (let index = 0; index < running.length; index++) {
      const sequence = running[index]!;
      if (!isDecode(sequence)) continue;
      while (sequence.slot !== null && !this.#cache.reserve(sequence, sequence.tokenCount)) {
        this.#preempt(running.findLast(other => other.isPaused) ?? running.at(-1)!);
        // A preempted one that was paused may have stood before this one.
        index = running.indexOf(sequence);
      }
    }
  }

  /** The decodes of the step: those with a draft that fits the cache, and the others. */
  #draft({ isAlone }: { readonly isAlone: boolean }): { plain: RowShare[]; drafted: RowShare[] } {
    const decodes = this.#running.filter(isDecode);
    const drafts =
      decodes.length === 0
        ? undefined
        : this.#drafter?.draft(decodes, { isAlone, logitsRoom: this.#budget.logitsLeft });
    const plain: RowShare[] = [];
    const drafted: RowShare[] = [];
    for (const [index, sequence] of decodes.entries()) {
      const draft = drafts?.[index] ?? null;
      const draftLength = this.#reserveDraft(sequence, draft);
      (draftLength > 0 ? drafted : plain).push({ sequence, tokenCount: 1, draft, draftLength });
    }
    return { plain, drafted };
  }

  /** Number of tokens of the draft that fit the cache. */
  #reserveDraft(sequence: Sequence, draft: Draft | null): number {
    // A prompt of one token whose log probabilities are requested is a decode with logits that are not drawn from.
    if (draft === null || draft.length === 0 || sequence.wantsPromptLogprobs) return 0;
    return this.#cache.reserve(sequence, sequence.tokenCount + draft.length) ? draft.length : 0;
  }

  /** Orders decodes for the runner. */
  #arrange(decodes: readonly RowShare[]): readonly RowShare[] {
    const sequences = decodes.map(({ sequence }) => sequence);
    this.#cache.arrange(sequences);
    const shareOf = new Map(decodes.map(share => [share.sequence, share]));
    return sequences.map(sequence => shareOf.get(sequence)!);
  }

  /**
   * Chunked prefill: shares the token budget among prompts, running and waiting ones together in service order. The first
   * waiting sequence that does not fit the cache ends the admissions of this step, so none overtakes another.
   *
   * Each turn starts again from the last prompt that had its turn, whatever was admitted and preempted since. That one is
   * still running: only sequences behind a waiting one are preempted for it, or paused ones, and neither has had a turn.
   */
  #grantChunks(): readonly RowShare[] {
    const chunks: RowShare[] = [];
    let last: Sequence | null = null;
    let mayAdmit = true;
    while (!this.#budget.isSpent) {
      const next = this.#nextPrefill(last);
      const waiting = mayAdmit ? this.#queue.peek() : undefined;
      if (waiting !== undefined && (next === undefined || compareService(waiting, next) < 0)) {
        mayAdmit = this.#admit(waiting);
        continue;
      }
      if (next === undefined) break;
      const { pendingCount, computedLength, wantsPromptLogprobs } = next;
      const tokenCount = this.#budget.grant({ pendingCount, computedLength, wantsPromptLogprobs });
      const isReserved = this.#cache.reserve(next, computedLength + tokenCount);
      assertInvariant(isReserved, 'memory of a prompt was reserved at its admission');
      if (tokenCount > 0) chunks.push({ sequence: next, tokenCount, draft: null, draftLength: 0 });
      last = next;
    }
    return chunks;
  }

  /** The first running prompt after `last` in service order. */
  #nextPrefill(last: Sequence | null): Sequence | undefined {
    return this.#running.find(
      sequence => isPrefill(sequence) && (last === null || compareService(last, sequence) < 0),
    );
  }

  /** Whether the first waiting sequence was admitted. */
  #admit(sequence: Sequence): boolean {
    if (mustWaitForSibling(sequence)) return false;
    let admission = this.#tryAdmit(sequence);
    while (admission === null) {
      const victim = this.#findVictim(sequence);
      if (victim === undefined) return false;
      this.#preempt(victim);
      admission = this.#tryAdmit(sequence);
    }
    const { group, promptLength } = sequence;
    sequence.enterCache(admission.place, admission.cachedLength);
    group.cachedTokenCount ??= Math.min(admission.cachedLength, promptLength);
    this.#fairShare.admit(group.virtualStart);
    this.#queue.remove(sequence);
    this.#running.splice(findPlace(this.#running, sequence), 0, sequence);
    // Where all but the last token of a prompt is cached, that token is a decode of this step.
    const isReserved = !isDecode(sequence) || this.#cache.reserve(sequence, sequence.tokenCount);
    assertInvariant(isReserved, 'memory of a prompt was reserved at its admission');
    return true;
  }

  #tryAdmit(sequence: Sequence): Admission | null {
    return this.#cache.freeCount === 0 ? null : this.#cache.admit(sequence);
  }

  /** The sequence to preempt: the last paused one; else the last running one, if its priority is lower. */
  #findVictim(waiting: Sequence): Sequence | undefined {
    const paused = this.#running.findLast(sequence => sequence.isPaused);
    if (paused !== undefined) return paused;
    const last = this.#running.at(-1);
    return last !== undefined && last.priority > waiting.priority ? last : undefined;
  }

  /**
   * Mutates: removes the sequence from the cache. Its computed tokens stay cached until evicted; lost ones are computed
   * again.
   */
  #preempt(sequence: Sequence): void {
    this.#release(sequence, { keepsPrefix: true });
    this.#preemptionCount++;
    if (sequence.isPaused) this.#parked.add(sequence);
    else this.#queue.push(sequence);
  }

  #release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void {
    this.#running.splice(this.#running.indexOf(sequence), 1);
    this.#cache.release(sequence, options);
    sequence.leaveCache();
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
