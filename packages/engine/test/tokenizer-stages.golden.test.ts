// Holds the stages of the families that people run to what Python `tokenizers` encodes with them.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Tokenizer } from '../src/text/tokenizer.ts';
import { readGolden } from './golden-file.ts';
import { parseTokenizer } from './parse-tokenizer.ts';

interface StagesGolden {
  readonly bases: Readonly<Record<string, object>>;
  readonly variants: readonly {
    readonly name: string;
    readonly base: string;
    readonly stages: object;
    readonly model: object;
    /** Of the ids of each text, one after the other. */
    readonly hashes: string;
  }[];
}

const HASH_LENGTH = 3;
const golden = readGolden<StagesGolden>('tokenizer-stages.json', ['tokenizers']);
const { texts } = readGolden<{ texts: readonly string[] }>('tokenizer-texts.json', ['tokenizers']);

describe('every text has the ids of the original', () => {
  test.each(golden.variants)('$name', ({ base, stages, model, hashes }) => {
    const json = { ...stages, model: { ...model, ...golden.bases[base] } };
    const tokenizer = parseTokenizer(json);
    const made = new Tokenizer({ tokenizer, config: {}, modelConfig: {}, generationConfig: {} });
    const hashOf = (text: string) =>
      createHash('sha256')
        .update(made.encode(text, { addSpecialTokens: true }).join())
        .digest('base64')
        .slice(0, HASH_LENGTH);
    expect(hashes.length).toBe(texts.length * HASH_LENGTH);
    expect(
      texts.filter((text, i) => hashOf(text) !== hashes.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH)),
    ).toEqual([]);
  });
});
