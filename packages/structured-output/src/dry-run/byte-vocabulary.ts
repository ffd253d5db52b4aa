// A vocabulary of single bytes for dry runs: it loads in milliseconds and shows the same faults of a grammar as the model's
// vocabulary, whose special tokens it shares.

import type { SpecialToken, TokenVocabulary } from '../token-vocabulary.ts';

export function byteVocabulary(specialTokens: readonly SpecialToken[]): TokenVocabulary {
  const taken = new Set(specialTokens.map(({ id }) => id));
  const byteIds: number[] = [];
  for (let id = 0; byteIds.length < 257; id++) if (!taken.has(id)) byteIds.push(id);
  const eosTokenId = byteIds.pop()!;
  const columnCount = Math.max(eosTokenId, ...taken) + 1;
  const offsets = new Uint32Array(columnCount + 1);
  const byteOf = new Map(byteIds.map((id, byte) => [id, byte]));
  const bytes: number[] = [];
  for (let id = 0; id < columnCount; id++) {
    const byte = byteOf.get(id);
    if (byte !== undefined) bytes.push(byte);
    offsets[id + 1] = bytes.length;
  }
  return { columnCount, bytes: Uint8Array.from(bytes), offsets, specialTokens, eosTokenIds: [eosTokenId] };
}
