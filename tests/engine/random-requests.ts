// What random schedules on a real graph are made of. Callers: the property tests of the step loop.

import type { Drafter } from '@ortler/engine/testing';
import type { TinyCheckpointOptions } from '@ortler/model-builder/testing';
import fc from 'fast-check';

/** Prompts that begin alike, as those of one application do. */
export const prompts = fc
  .record({
    beginning: fc.nat({ max: 1 }),
    sharedLength: fc.constantFrom(0, 5, 17, 20, 24),
    rest: fc.array(fc.nat({ max: 287 }), { minLength: 1, maxLength: 8 }),
  })
  .map(({ beginning, sharedLength, rest }) =>
    Int32Array.from([
      ...Array.from({ length: sharedLength }, (_, i) => (beginning * 97 + i * 31) % 288),
      ...rest,
    ]),
  );

/**
 * A model whose layers have windows: sequences begin with so many tokens that they pass the 256 positions of its shortest caches, and
 * their windows many times.
 */
export interface Windowed {
  readonly window: number;
  /** Tokens before each prompt. */
  readonly before: number;
}

/** Of a checkpoint. */
export function windowConfig(windowed: Windowed | undefined): TinyCheckpointOptions {
  if (windowed === undefined) return {};
  return { config: { model_type: 'mistral', sliding_window: windowed.window } };
}

export function behind(before: number, prompt: Int32Array): Int32Array<ArrayBuffer> {
  return Int32Array.from([...Array.from({ length: before }, (_, i) => (i * i + 3 * i) % 280), ...prompt]);
}

/** What a runner needs for the shortest caches of layers with windows, where rows have at most 11 tokens. */
export const SHORTEST_CACHES = { longestRow: 11, rewindLength: 1 } as const;

/** Drafts of every length beside anything, right ones as far as the text goes in circles and wrong ones else. */
export const RECKLESS_DRAFTER: Drafter = {
  draft(decodes, { logitsRoom }) {
    const maxLength = Math.min(9, Math.floor(logitsRoom / decodes.length));
    return decodes.map(sequence => {
      const { tokenIds, tokenCount, outputTokenIds, group } = sequence;
      const length = Math.min(
        tokenCount % (maxLength + 1),
        group.submitted.maxTokens - outputTokenIds.length - 1,
      );
      const only = new Int32Array(Math.max(0, length));
      const onlyCount = sequence.constraint?.jumpForward(only, only.length) ?? 0;
      if (onlyCount > 0)
        return { proposed: only.subarray(0, onlyCount), source: 'constraint', length: onlyCount };
      const before = tokenIds.lastIndexOf(tokenIds[tokenCount - 1]!, tokenCount - 2);
      const proposed = Int32Array.from({ length }, (_, i) => tokenIds[(before + 1 + i) % tokenCount]!);
      return { proposed, source: 'text', length: proposed.length };
    });
  },
};
