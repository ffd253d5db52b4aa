// Read-only check of the bookkeeping of slots. Tests call it after every step; it returns all violations at once.

import { hashBlock, hashPartition } from './block-hash.ts';
import type { CacheSlot } from './cache-slot.ts';
import { findOwnerViolations } from './owner-violations.ts';
import type { SlotPrefixIndex } from './slot-prefix-index.ts';
import { findStateViolations, type SlotStates } from './slot-states.ts';
import { findWindowViolations, type SlotWindows } from './slot-windows.ts';

/** The state of a slot cache manager that is checked. */
export interface SlotBookkeeping {
  readonly settings: {
    readonly slotCount: number;
    readonly maxSequences: number;
    readonly prefixCaching: boolean;
  };
  /** In the order of the pool. */
  readonly slots: readonly CacheSlot[];
  readonly index: SlotPrefixIndex;
  readonly states: SlotStates | null;
  readonly windows: SlotWindows | null;
  readonly ownedCount: number;
}

/** Violations, in sentences; empty when all invariants hold. */
export function findSlotCacheViolations(
  { slots, settings, index, ownedCount, states, windows }: SlotBookkeeping,
  contextLength: number,
): string[] {
  const violations: string[] = [];
  if (slots.length !== settings.slotCount)
    violations.push(`There are ${slots.length} slots instead of ${settings.slotCount}.`);
  const owners = slots.flatMap(slot => slot.owner ?? []);
  if (owners.length > settings.maxSequences)
    violations.push(`${owners.length} sequences own slots but at most ${settings.maxSequences} may.`);
  if (owners.length !== ownedCount)
    violations.push(`${owners.length} sequences own slots but ${ownedCount} are counted.`);
  if (new Set(owners).size !== owners.length) violations.push('A sequence owns two slots.');
  slots.forEach((slot, place) => {
    if (slot.slot !== place) violations.push(`Slot ${place} believes its place is ${slot.slot}.`);
    if (slot.owner !== null && slot.cached !== null)
      violations.push(`Slot ${place} is owned and holds a cached prefix.`);
    if (slot.cached !== null && !settings.prefixCaching)
      violations.push(`Slot ${place} holds a cached prefix but nothing may be cached.`);
    if (slot.cached?.tokenIds.length === 0) violations.push(`Slot ${place} holds a prefix of no tokens.`);
    if (slot.owner !== null) violations.push(...findOwnerViolations(slot.owner, place, contextLength));
    violations.push(...findIndexViolations(slot, place, index));
  });
  const knownCount = slots.reduce((sum, slot) => sum + slot.blockHashes.length, 0);
  if (index.entryCount !== knownCount)
    violations.push(`The prefix index has ${index.entryCount} entries for ${knownCount} blocks.`);
  if (states !== null) violations.push(...findStateViolations(states, slots));
  if (windows !== null) violations.push(...findWindowViolations(windows, slots));
  return violations;
}

/** The hashes of a slot are those of its tokens, and the index has the slot under each of them. */
function findIndexViolations(slot: CacheSlot, place: number, index: SlotPrefixIndex): string[] {
  const { blockLength } = index;
  if (slot.blockHashes.length * blockLength > slot.length)
    return [`Slot ${place} has hashes of tokens that it does not hold.`];
  let parent = hashPartition(slot.partition);
  for (const [block, hash] of slot.blockHashes.entries()) {
    parent = hashBlock(parent, slot.tokenIds, block * blockLength, blockLength);
    if (parent !== hash) return [`Slot ${place} has a wrong hash of block ${block}.`];
    const entries = index.slotsOf(hash).filter(entry => entry === slot);
    if (entries.length !== 1)
      return [`Slot ${place} is ${entries.length} times in the prefix index under block ${block}.`];
  }
  return [];
}
