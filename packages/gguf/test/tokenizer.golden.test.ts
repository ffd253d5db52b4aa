// Holds the tokenizer made from GGUF metadata to llama.cpp and to Python `tokenizers` on small vocabularies:
// golden/tokenizer/make_goldens.py makes them and says what is in them.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detokenize } from '../../engine/src/text/detokenizer.ts';
import { PRE_TOKENIZER_NAMES } from '../src/tokenizer/pre-tokenizers.ts';
import { type JsonMetadata, tokenizerOf } from './engine-tokenizer.ts';

interface ByteLevelGolden {
  readonly metadata: JsonMetadata;
  readonly texts: readonly string[];
  /** Of `gpt-2`. */
  readonly ids: readonly number[][];
  readonly cases: readonly {
    readonly names: readonly string[];
    /** Where they differ from those of `gpt-2`, by index of the text. */
    readonly ids: Readonly<Record<number, number[]>>;
    /** Where llama.cpp differs from the published pipeline. */
    readonly llamaIds: Readonly<Record<number, number[]>>;
    readonly addsBos: boolean;
  }[];
}

interface SentencePieceGolden {
  readonly metadata: JsonMetadata;
  readonly texts: readonly string[];
  readonly cases: readonly {
    readonly name: string;
    readonly metadata: JsonMetadata;
    readonly ids: readonly number[][];
    readonly addsBos: boolean;
    readonly llamaEndIds: readonly number[];
  }[];
}

const byteLevel = readGolden<ByteLevelGolden>('byte-level.json', ['xllamacpp', 'tokenizers']);
const sentencePiece = readGolden<SentencePieceGolden>('sentencepiece.json', [
  'llama-cpp-python',
  'sentencepiece',
]);

/** The texts of which llama.cpp makes other tokens than the published tokenizer.json of a family, and why. */
const LLAMA_DIFFERENCES: Readonly<Record<string, (text: string) => boolean>> = {
  // It does not normalise.
  olmo: text => text !== text.normalize('NFC'),
  'command-r': text => text !== text.normalize('NFC'),
  qwen2: text => text !== text.normalize('NFC'),
  qwen35: text => text !== text.normalize('NFC'),
  // The published pipeline looks for digits after the change to bytes, and some bytes are shown as digits.
  falcon: text => /[^\0-\x7f]/.test(text),
  // Its expression has another class of letters, without combining marks.
  'gpt-4o': text => /\p{M}/u.test(text),
  tekken: text => /\p{M}/u.test(text),
  // Its expression has no combining marks and no long s, and it merges words that are tokens.
  'kimi-k2': text => /\p{M}|\u017f|unmerged/iu.test(text),
  // It takes all numbers for digits, and no long s for an s.
  tiny_aya: text => /(?!\p{Nd})\p{N}|\u017f/u.test(text),
  // It keeps runs of digits together, and takes the ideographic space for punctuation only in part.
  'deepseek-llm': text => /\p{N}|\u3000/u.test(text),
  'deepseek-coder': text => text.includes('\u3000'),
};

describe('byte-level vocabularies', () => {
  it('have a golden for every pre-tokenizer', () => {
    expect(byteLevel.cases.flatMap(({ names }) => names).sort()).toEqual(PRE_TOKENIZER_NAMES);
  });

  it('have every pre-tokenizer in the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(PRE_TOKENIZER_NAMES.filter(name => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  for (const { names, ids, llamaIds, addsBos } of byteLevel.cases) {
    for (const name of names) {
      const metadata = { ...byteLevel.metadata, 'tokenizer.ggml.pre': name };

      it(`encodes as the published tokenizer: ${name}`, () => {
        const tokenizer = tokenizerOf(metadata);
        const wrong = byteLevel.texts.flatMap((text, i) => {
          const expected = ids[i] ?? byteLevel.ids[i]!;
          const found = tokenizer.encode(text, { addSpecialTokens: false });
          return found.join() === expected.join() ? [] : [{ text, found, expected }];
        });
        expect(wrong).toEqual([]);
        expect(tokenizer.encode('a', { addSpecialTokens: true })[0] === 0).toBe(addsBos);
      });
    }

    it(`agrees with llama.cpp but for known differences: ${names[0]}`, () => {
      const differing = Object.keys(llamaIds).map(i => byteLevel.texts[Number(i)]!);
      const isKnown = LLAMA_DIFFERENCES[names[0]!] ?? (() => false);
      expect(differing.filter(text => !isKnown(text))).toEqual([]);
    });
  }

  it('decode to the text that was encoded', () => {
    const tokenizer = tokenizerOf({ ...byteLevel.metadata, 'tokenizer.ggml.pre': 'llama-bpe' });
    for (const text of byteLevel.texts) {
      const ids = tokenizer.encode(text, { addSpecialTokens: false });
      expect(detokenize(tokenizer.tokenBytes, ids, { skipSpecialTokens: false })).toBe(text);
    }
  });
});

describe('SentencePiece vocabularies', () => {
  for (const { name, metadata, ids, addsBos, llamaEndIds } of sentencePiece.cases) {
    const whole = { ...sentencePiece.metadata, ...metadata };

    it(`encodes as llama.cpp: ${name}`, () => {
      const tokenizer = tokenizerOf(whole);
      const wrong = sentencePiece.texts.flatMap((text, i) => {
        const found = tokenizer.encode(text, { addSpecialTokens: false });
        return found.join() === ids[i]!.join() ? [] : [{ text, found, expected: ids[i] }];
      });
      expect(wrong).toEqual([]);
      const bos = whole['tokenizer.ggml.bos_token_id'];
      expect(tokenizer.encode('a', { addSpecialTokens: true })[0] === bos).toBe(addsBos);
    });

    it(`ends answers at the tokens at which llama.cpp does: ${name}`, () => {
      expect([...tokenizerOf(whole).eosTokenIds].sort((a, b) => a - b)).toEqual(llamaEndIds);
    });
  }

  it('give the text that was encoded, apart from the space in front', () => {
    const tokenizer = tokenizerOf(sentencePiece.metadata);
    const texts = sentencePiece.texts.filter(text => !text.includes('\u2581') && !/<|\n| {2}/.test(text));
    expect(texts.length).toBeGreaterThan(100);
    for (const text of texts) {
      const ids = tokenizer.encode(text, { addSpecialTokens: false });
      expect(detokenize(tokenizer.tokenBytes, ids, { skipSpecialTokens: false })).toBe(text);
    }
  });
});

function readGolden<T>(name: string, tools: readonly string[]): T {
  const golden = JSON.parse(readFileSync(new URL(`./golden/tokenizer/${name}`, import.meta.url), 'utf8'));
  for (const field of ['script', 'python', ...tools]) {
    if (typeof golden.provenance?.[field] !== 'string')
      throw new Error(`Golden ${name} does not say its "${field}": make it with its script.`);
  }
  return golden;
}
