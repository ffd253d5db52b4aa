// The bookkeeping of states: what recurrent layers have in place of keys and values. A state holds all tokens so far and cannot be
// cut, so a prefix can be continued only where a state ends with it. States are entries of one pool, which are written once: a row
// reads the entry after the tokens before it and writes others. So slots that begin alike share entries, and neither a failed call
// nor a rejected draft loses the state before. Caller: `slot-cache-manager.ts`.
//
//     tokens of a slot   0 ------- border ------- border ---- computed ---- reserved
//     its states                     kept           kept       current      of the next row

import { assertInvariant } from '../../errors.ts';
import type { StatePool, StateWrite } from '../runners/model-runner.ts';
import type { Sequence } from '../sequence.ts';
import type { CacheSlot, SlotState } from './cache-slot.ts';

/**
 * How far before the end of a prompt a state is kept besides that of all tokens but the last. Templates end a prompt with a few tokens
 * that the next turn does not repeat, such as the beginning of reasoning. Unit: tokens.
 */
const PROMPT_TAIL = 16;

export interface SlotStatesSettings extends StatePool {
  readonly maxSequences: number;
  readonly prefixCaching: boolean;
}

export class SlotStates {
  readonly settings: SlotStatesSettings;
  /** The last one is taken first, so that entries which were never used take no memory. */
  readonly #free: number[];
  readonly #held = new Set<SlotState>();
  /** States that the next step writes besides one for each row. */
  #extraCount = 0;

  constructor(settings: SlotStatesSettings) {
    const { count, maxSequences } = settings;
    assertInvariant(count >= 2 * maxSequences, 'every running sequence has a state and room for the next');
    this.settings = settings;
    this.#free = Array.from({ length: count }, (_, index) => count - 1 - index);
  }

  /** Entries with a state. */
  get held(): ReadonlySet<SlotState> {
    return this.#held;
  }

  get freeEntries(): readonly number[] {
    return this.#free;
  }

  /** Frees what the last step reserved and did not compute, and states that their sequences have left behind. Mutates: all owned slots. */
  startStep(slots: readonly CacheSlot[]): void {
    for (const slot of slots) if (slot.owner !== null) this.settle(slot);
    this.#extraCount = 0;
  }

  /** Leaves a slot the states of its computed tokens that may be continued: the last one and, for prefix caching, borders. */
  settle(slot: CacheSlot): void {
    const { length } = slot;
    slot.rowStates = undefined;
    this.#drop(slot, state => state.length > length || (state.length < length && !state.isBorder));
  }

  /**
   * Entries for the row that computes tokens `[computedLength, end)`, in place of those that were reserved before. The last
   * `draftLength` tokens are a draft, of which any number may be accepted. False, and nothing has changed, when the pool has no room
   * for the draft. Mutates: the slot; states that are kept for prefix caching may be evicted.
   */
  reserve(slot: CacheSlot, sequence: Sequence, end: number, clock: number): boolean {
    const start = sequence.computedLength;
    // Pending tokens are known; what comes after them is a draft.
    const draftStart = Math.min(end, sequence.tokenCount);
    const plannedCount = slot.states.filter(({ length }) => length > start).length;
    const extraCount = this.#extraCount - Math.max(0, plannedCount - 1);
    if (extraCount + end - draftStart > this.#extraLimit) return false;
    this.#extraCount = extraCount;
    this.settle(slot);
    const read = start === 0 ? null : (slot.states.at(-1) ?? null);
    assertInvariant(start === 0 || read?.length === start, 'a sequence has the state of its computed tokens');
    const writes: StateWrite[] = [];
    const write = (length: number, isBorder: boolean) => {
      const entry = this.#take();
      const state = { entry, length, isBorder, holders: new Set([slot]), lastUsed: clock };
      this.#held.add(state);
      slot.states.push(state);
      writes.push({ offset: length - start - 1, entry });
    };
    for (const length of this.#borders(sequence, start, draftStart)) {
      if (this.#extraCount >= this.#extraLimit) break;
      this.#extraCount++;
      write(length, true);
    }
    if (end > start) {
      const isPromptEnd = this.#isBorder(sequence, draftStart);
      if (draftStart > start) write(draftStart, isPromptEnd);
      for (let length = draftStart + 1; length <= end; length++) {
        this.#extraCount++;
        write(length, false);
      }
    }
    slot.rowStates = { read: read === null ? null : read.entry, writes };
    return true;
  }

  /** The longest of the slot's first `limit` tokens that a state ends with; 0 for none. */
  continuableLength(slot: CacheSlot, limit: number): number {
    return slot.states.findLast(({ length }) => length <= limit)?.length ?? 0;
  }

  /** Marks the state after the first `length` tokens as used. Mutates: it. */
  touch(slot: CacheSlot, length: number, clock: number): void {
    const state = slot.states.find(other => other.length === length);
    if (state !== undefined) state.lastUsed = clock;
  }

  /** Mutates: `to`, which is empty, shares the states of the first `length` tokens of `from`. */
  share(from: CacheSlot, to: CacheSlot, length: number): void {
    for (const state of from.states) {
      if (state.length > length) break;
      state.holders.add(to);
      to.states.push(state);
    }
  }

  /** Mutates: the slot has no states after its first `length` tokens. */
  cut(slot: CacheSlot, length: number): void {
    slot.rowStates = undefined;
    this.#drop(slot, state => state.length > length);
  }

  /** Lengths inside a row whose states are kept, in ascending order. */
  #borders(sequence: Sequence, start: number, end: number): number[] {
    const { interval, prefixCaching } = this.settings;
    const { promptLength } = sequence;
    const lengths = [promptLength - 1];
    if (prefixCaching) {
      lengths.push(promptLength - PROMPT_TAIL);
      for (let length = (Math.floor(start / interval) + 1) * interval; length < end; length += interval)
        lengths.push(length);
    }
    const inside = new Set(lengths.filter(length => length > start && length < end));
    return this.#sharesPrompt(sequence) || prefixCaching ? [...inside].sort((a, b) => a - b) : [];
  }

  /** Whether the state after the first `length` tokens is kept when the sequence goes on. */
  #isBorder(sequence: Sequence, length: number): boolean {
    const { interval, prefixCaching } = this.settings;
    const { promptLength } = sequence;
    if (length === promptLength - 1) return prefixCaching || this.#sharesPrompt(sequence);
    return prefixCaching && (length % interval === 0 || length === promptLength - PROMPT_TAIL);
  }

  /** Other choices of the request begin with its prompt. */
  #sharesPrompt({ group }: Sequence): boolean {
    return group.submitted.choiceCount > 1;
  }

  /** States that a step may write besides those that rows must have: each running sequence one that it reads and one that it writes. */
  get #extraLimit(): number {
    return this.settings.count - 2 * this.settings.maxSequences;
  }

  #take(): number {
    if (this.#free.length === 0) this.#evict();
    return this.#free.pop()!;
  }

  /** Frees the least recently used state that no running sequence needs. */
  #evict(): void {
    let oldest: SlotState | null = null;
    for (const state of this.#held) {
      if (oldest !== null && state.lastUsed >= oldest.lastUsed) continue;
      if (!isNeeded(state)) oldest = state;
    }
    assertInvariant(oldest !== null, 'the pool has more states than running sequences need');
    for (const slot of [...oldest.holders]) this.#drop(slot, state => state === oldest);
  }

  #drop(slot: CacheSlot, isDropped: (state: SlotState) => boolean): void {
    const { states } = slot;
    let count = 0;
    for (const state of states) {
      if (!isDropped(state)) {
        states[count++] = state;
        continue;
      }
      state.holders.delete(slot);
      if (state.holders.size > 0) continue;
      this.#held.delete(state);
      this.#free.push(state.entry);
    }
    states.length = count;
  }
}

/** Whether a running sequence reads it next, or the next step writes it. */
function isNeeded({ holders, length }: SlotState): boolean {
  return holders.values().some(({ owner }) => owner !== null && length >= owner.computedLength);
}

/** Violations, in sentences; empty when all invariants hold. */
export function findStateViolations(states: SlotStates, slots: readonly CacheSlot[]): string[] {
  const violations: string[] = [];
  const { count } = states.settings;
  const held = [...states.held].map(({ entry }) => entry);
  const entries = new Set([...held, ...states.freeEntries]);
  if (held.length + states.freeEntries.length !== count || entries.size !== count)
    violations.push(`${held.length} states are held and ${states.freeEntries.length} free of ${count}.`);
  for (const state of states.held) {
    if (state.holders.size === 0) violations.push(`State ${state.entry} has no holder.`);
    for (const slot of state.holders)
      if (!slot.states.includes(state))
        violations.push(`Slot ${slot.slot} does not know its state ${state.entry}.`);
  }
  for (const { slot, states: own, owner, length, cached } of slots) {
    if (own.some((state, index) => index > 0 && state.length <= own[index - 1]!.length))
      violations.push(`Slot ${slot} has states out of order.`);
    for (const state of own)
      if (!states.held.has(state)) violations.push(`Slot ${slot} has state ${state.entry}, which is free.`);
    if (owner !== null && length > 0 && !own.some(state => state.length === length))
      violations.push(`Slot ${slot} has no state of its ${length} computed tokens.`);
    if (owner === null && own.some(state => state.length > length))
      violations.push(`Slot ${slot} has a state of tokens that it does not hold.`);
    if (owner === null && cached === null && own.length > 0)
      violations.push(`Slot ${slot} is empty and has states.`);
  }
  return violations;
}
