// Banned tokens: those outside the allowed token ids, end tokens before the minimum length, and the last tokens of bad words.

import type { LogitsProcessor } from '../logits-processor.ts';

/** Every other token gets minus infinity. The ids are in the vocabulary. */
export function allowTokens(allowedTokenIds: readonly number[]): LogitsProcessor {
  const ids = Int32Array.from(allowedTokenIds);
  const kept = new Float32Array(ids.length);
  return {
    edit(logits) {
      for (let i = 0; i < ids.length; i++) kept[i] = logits[ids[i]!]!;
      logits.fill(-Infinity);
      for (let i = 0; i < ids.length; i++) logits[ids[i]!] = kept[i]!;
    },
    describe(edits) {
      edits.allowedTokenIds = ids;
    },
  };
}

/** The ids get minus infinity before an output of `minTokens` tokens. */
export function banEnds(bannedTokenIds: readonly number[], minTokens: number): LogitsProcessor {
  return {
    edit(logits, { outputTokenIds }) {
      if (outputTokenIds.length >= minTokens) return;
      for (const id of bannedTokenIds) logits[id] = -Infinity;
    },
    describe(edits, { outputTokenIds }) {
      if (outputTokenIds.length >= minTokens) return;
      for (const id of bannedTokenIds) edits.ban(id);
    },
  };
}

/**
 * Bans the last token of each sequence while the tokens before it are the end of the output; a sequence of one
 * token is banned always. No sequence is empty. The prompt does not count.
 */
export function banWords(sequences: readonly (readonly number[])[]): LogitsProcessor {
  const alwaysBanned: number[] = [];
  // By the token before the last one, so that a step looks only at sequences that its newest token may continue.
  const byLastButOne = new Map<number, (readonly number[])[]>();
  for (const sequence of sequences) {
    const lastButOne = sequence.at(-2);
    if (lastButOne === undefined) {
      alwaysBanned.push(sequence[0]!);
      continue;
    }
    const group = byLastButOne.get(lastButOne);
    if (group === undefined) byLastButOne.set(lastButOne, [sequence]);
    else group.push(sequence);
  }
  const forEachBanned = (output: readonly number[], ban: (tokenId: number) => void): void => {
    for (const id of alwaysBanned) ban(id);
    const newest = output.at(-1);
    if (newest === undefined) return;
    for (const sequence of byLastButOne.get(newest) ?? []) {
      if (endsWithStartOf(output, sequence)) ban(sequence.at(-1)!);
    }
  };
  return {
    edit(logits, { outputTokenIds }) {
      forEachBanned(outputTokenIds, id => {
        logits[id] = -Infinity;
      });
    },
    describe(edits, { outputTokenIds }) {
      forEachBanned(outputTokenIds, id => edits.ban(id));
    },
  };
}

/** Whether the output ends with all tokens of the sequence but the last. */
function endsWithStartOf(output: readonly number[], sequence: readonly number[]): boolean {
  const offset = output.length - (sequence.length - 1);
  if (offset < 0) return false;
  for (let i = sequence.length - 2; i >= 0; i--) if (output[offset + i] !== sequence[i]) return false;
  return true;
}
