// Merges derived from scores against SentencePiece's own algorithm, which knows scores only.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../test/engine-tokenizer.ts';
import type { GgufMetadata } from '../metadata.ts';
import { readGgufTokenizer } from './read-tokenizer.ts';

const LETTERS = ['a', 'b', 'c'];
const TYPE = { normal: 1, unknown: 2, control: 3 };

describe('merges from scores', () => {
  it('merge as SentencePiece does, which takes the best score and of equal ones the leftmost', () => {
    const piece = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.uniqueArray(piece, { minLength: 1, maxLength: 30 }),
        fc.array(fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 24 }), {
          minLength: 1,
          maxLength: 10,
        }),
        (pieces, texts) => {
          const tokens = ['<unk>', '<s>', '</s>', ...LETTERS, ...pieces];
          const tokenizer = loadTokenizer(readGgufTokenizer(toMetadata(tokens), 'made-up.gguf'));
          for (const text of texts) {
            const found = tokenizer.encode(text, { addSpecialTokens: false }).map(id => tokens[id]);
            expect(found).toEqual(mergeByScore(text, tokens));
          }
        },
      ),
    );
  });
});

/** Earlier tokens have better scores. */
function toMetadata(tokens: readonly string[]): GgufMetadata {
  return new Map<string, string | boolean | readonly string[] | Float32Array | Int32Array>([
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', tokens],
    ['tokenizer.ggml.scores', Float32Array.from(tokens, (_, id) => -id)],
    [
      'tokenizer.ggml.token_type',
      Int32Array.from(tokens, (_, id) => [TYPE.unknown, TYPE.control, TYPE.control][id] ?? TYPE.normal),
    ],
    ['tokenizer.ggml.add_space_prefix', false],
  ]);
}

function mergeByScore(text: string, tokens: readonly string[]): readonly string[] {
  const symbols = [...text];
  for (;;) {
    let best = -1;
    let bestId = Number.POSITIVE_INFINITY;
    for (let at = 0; at + 1 < symbols.length; at++) {
      const id = tokens.indexOf(symbols[at]! + symbols[at + 1]!);
      if (id !== -1 && id < bestId) {
        best = at;
        bestId = id;
      }
    }
    if (best === -1) return symbols;
    symbols.splice(best, 2, symbols[best]! + symbols[best + 1]!);
  }
}
