// Invariants of every sequence in the cache, over slots and over blocks. The checks of both managers use it.

import type { Sequence } from '../sequence.ts';

/** Name of a sequence in a violation. */
export function nameOwner({ group, choiceIndex }: Sequence, place: number): string {
  return `Sequence ${group.requestId}/${choiceIndex} in slot ${place}`;
}

/** Violations of the sequence that has that place. */
export function findOwnerViolations(sequence: Sequence, place: number, contextLength: number): string[] {
  const violations: string[] = [];
  const name = nameOwner(sequence, place);
  if (sequence.slot !== place) violations.push(`${name} believes its slot is ${sequence.slot}.`);
  if (sequence.pendingCount < 1) violations.push(`${name} has no pending token.`);
  if (sequence.tokenCount > contextLength) violations.push(`${name} is longer than the context.`);
  if (!sequence.group.openSequences.has(sequence)) violations.push(`${name} has ended.`);
  return violations;
}
