// The demo model's real vocabulary for constraints: 2,560 byte-level tokens.

import { readFileSync } from 'node:fs';
import { LlguidanceEngine } from '../src/llguidance/llguidance-engine.ts';
import type { TokenVocabulary } from '../src/token-vocabulary.ts';

interface TokenizerJson {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

const MODEL_DIR = new URL('../../../models/demo/', import.meta.url);
const readJson = (name: string): unknown => JSON.parse(readFileSync(new URL(name, MODEL_DIR), 'utf8'));

/** GPT-2's alphabet of bytes: printable Latin-1 bytes stand for themselves, all others for code points from 256 on. */
const BYTES_BY_CHARACTER = new Map<string, number>();
for (let byte = 0, next = 256; byte < 256; byte++) {
  const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  BYTES_BY_CHARACTER.set(String.fromCodePoint(isPrintable ? byte : next++), byte);
}

function readVocabulary(): TokenVocabulary {
  const { model, added_tokens: added } = readJson('tokenizer.json') as TokenizerJson;
  const { eos_token_id: eosTokenIds } = readJson('generation_config.json') as { eos_token_id: number[] };
  const tokens: Uint8Array[] = [];
  for (const [text, id] of Object.entries(model.vocab))
    tokens[id] = Uint8Array.from(text, character => BYTES_BY_CHARACTER.get(character)!);
  for (const { id, content } of added) tokens[id] = new TextEncoder().encode(content);
  const offsets = new Uint32Array(tokens.length + 1);
  tokens.forEach((bytes, id) => {
    offsets[id + 1] = offsets[id]! + bytes.length;
  });
  return {
    columnCount: tokens.length,
    bytes: new Uint8Array(Buffer.concat(tokens)),
    offsets,
    specialTokens: added.map(({ id, content }) => ({ id, name: content })),
    eosTokenIds,
  };
}

export const demoVocabulary = readVocabulary();
export const demoEngine = new LlguidanceEngine(demoVocabulary);
