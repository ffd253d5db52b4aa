// Read-only check of the bookkeeping of blocks. Tests call it after every step; it returns all violations at once.

import type { BlockPool } from './block-pool.ts';
import { type BlockPrefixIndex, NO_BLOCK } from './block-prefix-index.ts';
import type { BlockOwner } from './block-publisher.ts';
import { findOwnerViolations, nameOwner } from './owner-violations.ts';

/** The state of a block cache manager that is checked. */
export interface BlockBookkeeping {
  readonly settings: {
    readonly blockCount: number;
    readonly blockLength: number;
    readonly prefixCaching: boolean;
  };
  readonly pool: BlockPool;
  readonly index: BlockPrefixIndex;
  /** By place. */
  readonly owners: readonly BlockOwner[];
  readonly ownedCount: number;
}

/** Violations, in sentences; empty when all invariants hold. */
export function findBlockCacheViolations(manager: BlockBookkeeping, contextLength: number): string[] {
  const violations: string[] = [];
  const owners = manager.owners.filter(owner => owner.sequence !== null);
  if (owners.length !== manager.ownedCount)
    violations.push(`${owners.length} sequences have blocks but ${manager.ownedCount} are counted.`);
  if (new Set(owners.map(owner => owner.sequence)).size !== owners.length)
    violations.push('A sequence has two places.');
  for (const [place, owner] of manager.owners.entries()) {
    if (owner.sequence === null) {
      if (owner.blockCount > 0) violations.push(`Place ${place} has blocks but no sequence.`);
      continue;
    }
    violations.push(...findOwnerViolations(owner.sequence, place, contextLength));
    violations.push(...findTableViolations(manager, owner, place));
  }
  violations.push(...findPoolViolations(manager), ...findIndexViolations(manager));
  return violations;
}

/** A sequence has blocks for its tokens, shares full blocks only, and the index has the tokens of its blocks. */
function findTableViolations(
  { settings, index, pool }: BlockBookkeeping,
  owner: BlockOwner,
  place: number,
): string[] {
  const violations: string[] = [];
  const { blockLength } = settings;
  const sequence = owner.sequence!;
  const name = nameOwner(sequence, place);
  const blocks = [...owner.blocks.subarray(0, owner.blockCount)];
  if (sequence.blocks !== owner.blocks) violations.push(`${name} has the blocks of another place.`);
  if (new Set(blocks).size !== blocks.length) violations.push(`${name} has a block twice.`);
  if (blocks.length * blockLength < sequence.tokenCount - 1)
    violations.push(`${name} has ${blocks.length} blocks for ${sequence.tokenCount} tokens.`);
  const fullCount = Math.floor(sequence.computedLength / blockLength);
  if (owner.publishedCount > fullCount) violations.push(`${name} has published what is not computed.`);
  for (const [position, block] of blocks.entries()) {
    if (position >= fullCount && pool.useCount(block) !== 1)
      violations.push(`${name} shares block ${block}, which it will write.`);
    if (position >= fullCount && index.has(block))
      violations.push(`${name} will write block ${block}, which others may find.`);
    if (position < owner.publishedCount && !index.has(block))
      violations.push(`${name} believes block ${block} to be published.`);
    if (position >= fullCount || !index.has(block)) continue;
    const expected = sequence.tokenIds.subarray(position * blockLength, (position + 1) * blockLength);
    const parent = position === 0 ? NO_BLOCK : blocks[position - 1]!;
    if (!isEqual(index.tokensOf(block), expected) || index.parentOf(block) !== parent)
      violations.push(`${name} has block ${block}, which holds something else.`);
  }
  return violations;
}

/** The reference count of a block is the number of tables that have it; a block in no table is free. */
function findPoolViolations({ settings, pool, owners }: BlockBookkeeping): string[] {
  const violations: string[] = [];
  const uses = new Int32Array(settings.blockCount);
  for (const owner of owners) for (let i = 0; i < owner.blockCount; i++) uses[owner.blocks[i]!]!++;
  for (const [block, count] of uses.entries())
    if (pool.useCount(block) !== count)
      violations.push(`Block ${block} is in ${count} tables but counted ${pool.useCount(block)} times.`);
  const free = pool.freeBlocks();
  if (free.length !== pool.freeCount)
    violations.push(`${free.length} blocks are free but ${pool.freeCount} are counted.`);
  const unused = uses.filter(count => count === 0).length;
  if (new Set(free).size !== unused || free.some(block => uses[block] !== 0))
    violations.push(`The free list has ${free.length} blocks where ${unused} are unused.`);
  return violations;
}

/** Blocks that follow a block in the index are evicted before it, and without prefix caching no block stays cached. */
function findIndexViolations({ settings, pool, index }: BlockBookkeeping): string[] {
  const violations: string[] = [];
  const places = new Map(pool.freeBlocks().map((block, place) => [block, place]));
  let entryCount = 0;
  for (let block = 0; block < settings.blockCount; block++) {
    const length = index.lengthOf(block);
    if (length === 0) continue;
    entryCount += length === settings.blockLength ? 2 : 1;
    if (!settings.prefixCaching) violations.push(`Block ${block} is kept but nothing may be cached.`);
    if (length < settings.blockLength && pool.useCount(block) > 0)
      violations.push(`Block ${block} is in use but the index has only its beginning.`);
    const parent = index.parentOf(block);
    if (parent === NO_BLOCK) continue;
    if (index.lengthOf(parent) !== settings.blockLength)
      violations.push(`Block ${block} follows block ${parent}, which is not full in the index.`);
    if ((places.get(block) ?? Number.POSITIVE_INFINITY) > (places.get(parent) ?? Number.POSITIVE_INFINITY))
      violations.push(`Block ${block} follows block ${parent}, which would be given out first.`);
  }
  if (index.entryCount !== entryCount)
    violations.push(`The prefix index has ${index.entryCount} entries where ${entryCount} are due.`);
  return violations;
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
