// A lower bound of the tokens of a text, computed without encoding it: a text that cannot fit the context is refused before
// it costs anything.

import { stagesOf } from './stages/stage.ts';
import type { TokenBytes } from './token-bytes.ts';
import type { TokenizerJson } from './tokenizer-json.ts';

/**
 * How many times shorter a normalizer can make a text, in UTF-8 bytes. Composition: three Hangul letters of
 * three bytes become one syllable of three. Compatibility: a four-byte letter becomes a one-byte one.
 */
const NORMALIZER_SHRINKAGE: Readonly<Record<string, number>> = {
  NFC: 3,
  NFD: 3,
  NFKC: 12,
  NFKD: 12,
  Prepend: 1,
};

/** Maximum number of bytes of text that one token can stand for; infinite where no such bound holds. */
export function longestTokenSpan(json: TokenizerJson, tokenBytes: TokenBytes): number {
  // Tokens that strip the space around them, and one unknown token for any number of unknown characters.
  if (json.added_tokens.some(token => token.lstrip || token.rstrip)) return Number.POSITIVE_INFINITY;
  if (!coversEveryByte(json, tokenBytes)) return Number.POSITIVE_INFINITY;
  let span = tokenBytes.longestLength;
  for (const stage of stagesOf(json.normalizer, 'normalizers')) {
    const isMark = stage.type === 'Replace' && stage.content === '▁';
    // A space becomes the three-byte mark, whose token bytes count as one again.
    const shrinkage = isMark ? 1 : NORMALIZER_SHRINKAGE[stage.type];
    if (shrinkage === undefined) return Number.POSITIVE_INFINITY;
    span *= shrinkage;
  }
  return span;
}

function coversEveryByte(json: TokenizerJson, tokenBytes: TokenBytes): boolean {
  const { vocabulary, settings } = json.model;
  if (settings.hasByteFallback) return vocabulary.idOf('<0xFF>') !== undefined;
  const seen = new Set<number>();
  for (let id = 0; id < tokenBytes.size; id++) {
    const bytes = tokenBytes.bytesOf(id);
    if (bytes.length === 1) seen.add(bytes[0]!);
  }
  // Thirteen byte values never occur in UTF-8: 0xC0, 0xC1 and 0xF5 to 0xFF.
  for (let byte = 0; byte < 256; byte++) {
    const occurs = byte !== 0xc0 && byte !== 0xc1 && byte < 0xf5;
    if (occurs && !seen.has(byte)) return false;
  }
  return true;
}
