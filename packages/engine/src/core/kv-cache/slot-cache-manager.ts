// KV cache of contiguous slots: the slot of each sequence, and the prefixes that are cached in slots without an owner
// (prefix caching). Only this class makes the runner copy or exchange slots. A slot holds a whole context, so a sequence
// that has one can always finish: having a slot is the reservation. Layers with a window may have rings of the last positions, and
// recurrent layers have states, so a prefix is a hit only where its end is kept. Caller: the scheduler.
//
//     slot   0 ......... decodes ......... slotCount
//            | decodes   | prefills, paused sequences, cached prefixes, empty slots, in any order |
//
// A single decode stays in whatever slot it has.

import { assertInvariant } from '../../errors.ts';
import type { StatePool, WindowRings } from '../runners/model-runner.ts';
import type { Sequence } from '../sequence.ts';
import { BLOCK_HASHING } from './block-hash.ts';
import type { CacheEventLog } from './cache-event-log.ts';
import { CacheSlot } from './cache-slot.ts';
import type { Admission, CacheCounters, KvCacheManager } from './kv-cache-manager.ts';
import { PrefixCounters } from './prefix-counters.ts';
import { findSlotCacheViolations } from './slot-cache-invariants.ts';
import { type PrefixHit, SlotPrefixIndex } from './slot-prefix-index.ts';
import { SlotStates } from './slot-states.ts';
import { SlotWindows } from './slot-windows.ts';

/** The part of the runner that the manager uses. */
export interface SlotMover {
  /** Makes slot `to` a copy of the first `length` tokens of slot `from`. */
  copySlot(from: number, to: number, length: number): void;
  /** Exchanges the first `length` tokens of two slots. */
  swapSlots(a: number, b: number, length: number): void;
}

export interface SlotCacheSettings {
  readonly slotCount: number;
  /** Maximum number of slots that sequences own; the others only hold cached prefixes. At most `slotCount`. */
  readonly maxSequences: number;
  /** Whether tokens of ended sequences stay cached for later ones. */
  readonly prefixCaching: boolean;
  /** Tokens of a block of the prefix index. */
  readonly blockLength: number;
  /** The runner's rings; absent for a model whose layers hold whole contexts. */
  readonly rings?: WindowRings | undefined;
  /** The runner's pool of states; absent for a model without recurrent layers. */
  readonly states?: StatePool | undefined;
  /** Records every change of the prefix index. Default: none. */
  readonly events?: CacheEventLog | null | undefined;
}

/**
 * Number of tokens whose copy takes about as long as computing one: a hundred in memory that was used before, about twenty in
 * fresh memory (SmolLM2-135M on two cores).
 */
const COPIES_PER_COMPUTATION = 32;

export class SlotCacheManager implements KvCacheManager {
  readonly settings: SlotCacheSettings;
  readonly index: SlotPrefixIndex;
  /** Null for a model without recurrent layers. */
  readonly states: SlotStates | null;
  /** Null for a model whose layers hold whole contexts. */
  readonly windows: SlotWindows | null;
  readonly #mover: SlotMover;
  /** By place in the pool. */
  readonly #slots: CacheSlot[];
  #ownedCount = 0;
  readonly #counters = new PrefixCounters();
  /** Counts uses, for `lastUsed`. */
  #clock = 0;
  /** By place: whether its sequence belongs to the decodes at the front. */
  readonly #isFront: Uint8Array;

  constructor(mover: SlotMover, settings: SlotCacheSettings) {
    assertInvariant(settings.maxSequences <= settings.slotCount, 'every running sequence has a slot');
    this.settings = settings;
    this.index = new SlotPrefixIndex(settings.blockLength, BLOCK_HASHING, settings.events ?? null);
    this.states = settings.states === undefined ? null : new SlotStates({ ...settings, ...settings.states });
    this.windows =
      settings.rings === undefined ? null : new SlotWindows(settings.rings, this.index, settings);
    this.#mover = mover;
    this.#slots = Array.from({ length: settings.slotCount }, (_, index) => new CacheSlot(index));
    this.#isFront = new Uint8Array(settings.slotCount);
  }

  /** All slots in the order of the pool. */
  get slots(): readonly CacheSlot[] {
    return this.#slots;
  }

  get ownedCount(): number {
    return this.#ownedCount;
  }

  /** How many more sequences can be admitted. */
  get freeCount(): number {
    return this.settings.maxSequences - this.#ownedCount;
  }

  get usedShare(): number {
    return this.#ownedCount / this.settings.maxSequences;
  }

  get counters(): CacheCounters {
    return this.#counters;
  }

  /**
   * Never null, because a slot holds a whole context. A cached prefix is taken over in place when the sequence continues all
   * of it, or so much of it that computing the difference costs less than a copy, or when its slot would be evicted next;
   * otherwise its tokens are copied.
   */
  admit(sequence: Sequence): Admission {
    assertInvariant(this.freeCount > 0, 'a slot is free when a sequence is admitted');
    assertInvariant(sequence.slot === null, 'a sequence holds at most one slot');
    const hit = this.#findPrefix(sequence);
    const length = hit?.length ?? 0;
    if (hit !== null) {
      hit.slot.lastUsed = ++this.#clock;
      this.states?.touch(hit.slot, length, this.#clock);
    }
    const slot = this.#chooseSlot(hit);
    if (slot === hit?.slot) {
      this.index.cut(slot, length);
      this.states?.cut(slot, length);
      this.windows?.share(slot, slot, length, this.#clock);
    } else {
      this.#empty(slot);
      if (hit !== null) {
        this.#mover.copySlot(hit.slot.slot, slot.slot, length);
        this.states?.share(hit.slot, slot, length);
        this.windows?.share(hit.slot, slot, length, this.#clock);
      }
    }
    slot.cached = null;
    slot.owner = sequence;
    slot.lastUsed = ++this.#clock;
    this.#ownedCount++;
    this.#counters.count(sequence, length);
    return { place: slot, cachedLength: length };
  }

  startStep(): void {
    this.states?.startStep(this.#slots);
  }

  /**
   * A slot holds a whole context, so only a draft of a recurrent model may not fit, whose states are kept token by token. Mutates:
   * the slot's states, and what its rings have lost.
   */
  reserve(sequence: Sequence, tokenCount: number): boolean {
    const slot = this.#slotOf(sequence);
    this.#clock++;
    if (this.states?.reserve(slot, sequence, tokenCount, this.#clock) === false) return false;
    this.windows?.reserve(slot, tokenCount, this.#clock);
    return true;
  }

  /**
   * Running sequences are indexed when another one is admitted; with a log of events at once, so that routers
   * learn of them in time.
   */
  publish(sequence: Sequence): void {
    if (this.settings.prefixCaching && this.settings.events != null)
      this.index.extend(this.#slotOf(sequence));
  }

  release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void {
    const slot = this.#slotOf(sequence);
    const length = sequence.computedLength;
    if (options.keepsPrefix && this.settings.prefixCaching && length > 0) {
      this.index.extend(slot);
      this.states?.settle(slot);
      slot.cached = { partition: sequence.partition, tokenIds: sequence.tokenIds.slice(0, length) };
      slot.owner = null;
      slot.lastUsed = ++this.#clock;
    } else {
      this.#empty(slot);
    }
    this.#ownedCount--;
  }

  /**
   * Brings these sequences into the slots `[0, decodes.length)`: all decodes are then one contiguous range of the pool,
   * which the runner passes to the model without copying. Only sequences outside that range move. A single one is such a
   * range anywhere, and stays: where conversations take turns, each would move with all its tokens, and another with it.
   * Mutates: the slots of sequences that change places; `decodes`, which is in slot order afterwards.
   */
  arrange(decodes: Sequence[]): void {
    const count = decodes.length;
    if (count === 1) return;
    const isFront = this.#isFront;
    isFront.fill(0);
    for (const { slot } of decodes) isFront[slot!] = 1;
    let place = 0;
    for (const { slot } of decodes) {
      if (slot! < count) continue;
      while (isFront[place] === 1) place++;
      this.#exchange(this.#slots[slot!]!, this.#slots[place]!);
      place++;
    }
    for (let slot = 0; slot < count; slot++) decodes[slot] = this.#slots[slot]!.owner!;
  }

  findViolations(contextLength: number): string[] {
    return findSlotCacheViolations(this, contextLength);
  }

  #slotOf(sequence: Sequence): CacheSlot {
    const slot = sequence.slot === null ? undefined : this.#slots[sequence.slot];
    assertInvariant(slot?.owner === sequence, 'a running sequence owns its slot');
    return slot;
  }

  /** The longest prefix of the sequence that some slot holds, all but its last token at most. */
  #findPrefix(sequence: Sequence): PrefixHit | null {
    const limit = sequence.tokenCount - 1;
    const sibling = this.#siblingPrefix(sequence, limit);
    // A cache has no log probabilities of the prompt.
    if (!this.settings.prefixCaching || sequence.wantsPromptLogprobs) return sibling;
    for (const slot of this.#slots) if (slot.owner !== null) this.index.extend(slot);
    const hit = this.index.find(sequence.partition, sequence.tokenIds, limit, this.#continuableLength);
    return (hit?.length ?? 0) > (sibling?.length ?? 0) ? hit : sibling;
  }

  /** The prompt in the slot of another choice of the same request: shared with or without prefix caching. */
  #siblingPrefix(sequence: Sequence, limit: number): PrefixHit | null {
    let best: PrefixHit | null = null;
    for (const other of sequence.group.openSequences) {
      if (other.slot === null) continue;
      const slot = this.#slots[other.slot]!;
      const length = this.#continuableLength(
        slot,
        Math.min(other.computedLength, sequence.promptLength, limit),
      );
      if (length > (best?.length ?? 0)) best = { slot, length };
    }
    return best;
  }

  /** The longest of the slot's first `limit` tokens that a sequence can go on after. */
  readonly #continuableLength = (slot: CacheSlot, limit: number): number => {
    let length = limit;
    for (;;) {
      const ofStates = this.states?.continuableLength(slot, length) ?? length;
      const ofBoth = this.windows?.continuableLength(slot, ofStates) ?? ofStates;
      if (ofBoth === length) return length;
      length = ofBoth;
    }
  };

  #chooseSlot(hit: PrefixHit | null): CacheSlot {
    if (hit !== null && hit.slot.owner === null) {
      const lostCount = hit.slot.length - hit.length;
      if (lostCount * COPIES_PER_COMPUTATION <= hit.length) return hit.slot;
    }
    let oldest: CacheSlot | null = null;
    for (const slot of this.#slots) {
      if (slot.owner !== null) continue;
      if (slot.cached === null) return slot;
      if (oldest === null || slot.lastUsed < oldest.lastUsed) oldest = slot;
    }
    assertInvariant(oldest !== null, 'there are as many slots as sequences that may run');
    return oldest;
  }

  /** Mutates: the slot holds nothing afterwards. */
  #empty(slot: CacheSlot): void {
    this.index.cut(slot, 0);
    this.states?.cut(slot, 0);
    this.windows?.empty(slot);
    slot.cached = null;
    slot.owner = null;
  }

  /** Mutates: both slots change places with all they hold. `from` has an owner. */
  #exchange(from: CacheSlot, to: CacheSlot): void {
    const [fromIndex, toIndex] = [from.slot, to.slot];
    if (to.length > 0) this.#mover.swapSlots(fromIndex, toIndex, Math.max(from.length, to.length));
    else if (from.length > 0) this.#mover.copySlot(fromIndex, toIndex, from.length);
    this.#slots[toIndex] = from;
    this.#slots[fromIndex] = to;
    from.slot = toIndex;
    to.slot = fromIndex;
  }
}
