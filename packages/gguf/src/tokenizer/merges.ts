// The merges of a BPE model: read from the file, or derived from the scores of a SentencePiece vocabulary.

import type { MetadataFields } from './metadata-fields.ts';
import { SCORES_KEY, type Vocabulary } from './vocabulary.ts';

const MERGES_KEY = 'tokenizer.ggml.merges';

/** The merges as the file lists them, `left right`. Throws: `corrupt` for a merge whose parts or result are not tokens. */
export function readMerges(fields: MetadataFields, { idOf }: Vocabulary): readonly string[] {
  const merges = fields.texts(MERGES_KEY);
  if (merges === undefined) throw fields.corrupt(MERGES_KEY, 'is missing');
  for (let rank = 0; rank < merges.length; rank++) {
    const merge = merges[rank]!;
    const space = merge.indexOf(' ', 1);
    const left = merge.slice(0, space);
    const right = merge.slice(space + 1);
    if (space !== -1 && idOf.has(left) && idOf.has(right) && idOf.has(left + right)) continue;
    const shown = `merge ${rank} is ${JSON.stringify(merge)}`;
    if (space === -1 || right === '')
      throw fields.corrupt(MERGES_KEY, `${shown}, not two tokens with a space between`);
    const missing = [left, right, left + right].find(text => !idOf.has(text))!;
    throw fields.corrupt(MERGES_KEY, `${shown}, but ${JSON.stringify(missing)} is not a token`);
  }
  return merges;
}

/**
 * Merges that give the tokens of SentencePiece, which knows scores only: it merges the neighbours whose concatenation is the
 * token with the best score, and of equal ones the leftmost. Each token gives a merge for every way to cut it into two tokens,
 * in the order of the scores. Overlapping pairs can give the same token only in repetitions, which are merged from the left;
 * there the pair further left has the longer left part, so longer left parts come first. Throws: `corrupt`.
 */
export function mergesFromScores(fields: MetadataFields, vocabulary: Vocabulary): readonly string[] {
  const { tokens, idOf, scores } = vocabulary;
  if (scores === undefined) throw fields.corrupt(SCORES_KEY, 'is missing');
  const isPart = Uint8Array.from(tokens, (token, id) => Number(isMergeable(token, id, vocabulary)));
  const byScore = Uint32Array.from(tokens.keys())
    .filter(id => isPart[id] === 1)
    .sort((a, b) => scores[b]! - scores[a]! || a - b);
  const isPartText = (text: string) => isPart[idOf.get(text) ?? -1] === 1;
  const merges: string[] = [];
  for (const id of byScore) {
    if (Number.isNaN(scores[id]!)) throw fields.corrupt(SCORES_KEY, `has no number for id ${id}`);
    const token = tokens[id]!;
    for (let cut = token.length - 1; cut > 0; cut--) {
      const left = token.slice(0, cut);
      if (!isPartText(left)) continue;
      const right = token.slice(cut);
      if (isPartText(right)) merges.push(`${left} ${right}`);
    }
  }
  return merges;
}

/** Other tokens never come from merging: they are found in the text before it, or stand for a byte. */
function isMergeable(token: string, id: number, { typeOf }: Vocabulary): boolean {
  const type = typeOf(id);
  // Spaces of the text are marks by then.
  const isOrdinary = type === 'normal' || type === 'unused' || type === 'undefined';
  return isOrdinary && token !== '' && !token.includes(' ');
}
