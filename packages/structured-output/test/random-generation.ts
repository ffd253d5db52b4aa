// A model that knows nothing: every allowed token is as likely as any other. It goes where a real one never would.

import { Buffer } from 'node:buffer';
import type { ConstraintMatcher, Grammar } from '../src/constraint.ts';
import { demoEngine, demoVocabulary } from './demo-vocabulary.ts';

export interface RandomText {
  readonly text: string;
  /** The generator stopped at an end token; otherwise at the length limit. */
  readonly isFinished: boolean;
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws up to `maxTokens` tokens, and ends with probability one half wherever the text may end. */
export function generate(grammar: Grammar, seed: number, maxTokens: number): RandomText {
  const random = randomNumbers(seed);
  const matcher = demoEngine.compile(grammar);
  try {
    const ids: number[] = [];
    while (ids.length < maxTokens) {
      if (matcher.canStop() && random() < 0.5) return { text: toText(ids), isFinished: true };
      const allowed = allowedTokens(matcher);
      if (allowed.length === 0) return { text: toText(ids), isFinished: true };
      const next = allowed[Math.floor(random() * allowed.length)]!;
      if (!matcher.accept(next)) throw new Error(`Token ${next} is in the mask and was refused.`);
      ids.push(next);
    }
    return { text: toText(ids), isFinished: matcher.canStop() };
  } finally {
    matcher.dispose();
  }
}

/** Text tokens of the mask, ascending. */
function allowedTokens(matcher: ConstraintMatcher): number[] {
  const mask = new Uint32Array(demoEngine.maskWordCount);
  matcher.fillMask(mask);
  const ids: number[] = [];
  for (let id = 0; id < demoVocabulary.columnCount; id++)
    if ((mask[id >>> 5]! >>> (id & 31)) & 1 && !demoVocabulary.eosTokenIds.includes(id)) ids.push(id);
  return ids;
}

/** Throws: when the bytes are not whole UTF-8, except at a cut end. */
function toText(ids: readonly number[]): string {
  const { bytes, offsets } = demoVocabulary;
  const all = Buffer.concat(ids.map(id => bytes.subarray(offsets[id], offsets[id + 1])));
  return new TextDecoder('utf-8', { fatal: true }).decode(all, { stream: true });
}
