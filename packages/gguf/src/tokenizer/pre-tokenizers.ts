// The pre-tokenizers of byte-level BPE. The file has only the name of one, `tokenizer.ggml.pre`; here are the stages that the
// published tokenizer.json of each family has, and the defaults that llama.cpp attaches to the names.

import type { MetadataFields } from './metadata-fields.ts';
import {
  AFMOE_PATTERNS,
  DEEPSEEK_CODER_PATTERNS,
  DEEPSEEK_LLM_PATTERNS,
  DEEPSEEK_V3_PATTERNS,
  DEFAULT_PUNCTUATION_PATTERN,
  GPT_4O_PATTERN,
  GPT2_PATTERN,
  GROUPED_DIGITS_PATTERN,
  KIMI_PATTERN,
  LLAMA3_PATTERN,
  PUNCTUATION_PATTERN,
  QWEN2_PATTERN,
  QWEN35_PATTERN,
  SEED_CODER_PATTERN,
  TEKKEN_PATTERN,
  THREE_DIGITS_PATTERN,
} from './split-patterns.ts';
import type { TokenizerStage } from './tokenizer-json.ts';

const PRE_TOKENIZER_KEY = 'tokenizer.ggml.pre';

export interface PreTokenizer {
  /** NFC in the families whose published file has it. llama.cpp does not normalise. */
  readonly normalizer: TokenizerStage | null;
  readonly stages: readonly TokenizerStage[];
  /** A word that is a token is that token, whatever the merges would make of it. */
  readonly ignoresMerges: boolean;
  /** The default where the file does not say `tokenizer.ggml.add_bos_token`. */
  readonly addsBos: boolean;
}

const split = (regex: string): TokenizerStage => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
});
const SINGLE_DIGITS: TokenizerStage = { type: 'Digits', individual_digits: true };
const DIGIT_RUNS: TokenizerStage = { type: 'Digits', individual_digits: false };
const BYTES: TokenizerStage = {
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: false,
};
/** The expression of GPT-2 is part of the stage. */
const GPT2: TokenizerStage = { ...BYTES, use_regex: true };
const NFC: TokenizerStage = { type: 'NFC' };

const preTokenizer = (...stages: readonly TokenizerStage[]): PreTokenizer => ({
  normalizer: null,
  stages,
  ignoresMerges: false,
  addsBos: false,
});

const gpt2 = preTokenizer(GPT2);
const gptNeoX: PreTokenizer = { ...gpt2, normalizer: NFC };
const digitsAndGpt2 = preTokenizer(SINGLE_DIGITS, GPT2);
const cl100k = preTokenizer(split(LLAMA3_PATTERN), BYTES);
const llama3: PreTokenizer = { ...cl100k, ignoresMerges: true, addsBos: true };
const qwen2: PreTokenizer = { ...preTokenizer(split(QWEN2_PATTERN), BYTES), normalizer: NFC };
const gpt4o = preTokenizer(split(GPT_4O_PATTERN), BYTES);
const deepseekV3 = preTokenizer(...DEEPSEEK_V3_PATTERNS.map(split), BYTES);

const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  default: preTokenizer(
    split(DEFAULT_PUNCTUATION_PATTERN),
    split(GPT2_PATTERN),
    split('\\p{N}+'),
    split(THREE_DIGITS_PATTERN),
    BYTES,
  ),
  'gpt-2': gpt2,
  'phi-2': gpt2,
  exaone4: gpt2,
  'granite-docling': gpt2,
  mellum: gpt2,
  gigachat: gpt2,
  'a.x-4.0': gpt2,
  trillion: gpt2,
  olmo: gptNeoX,
  mpt: gptNeoX,
  starcoder: digitsAndGpt2,
  refact: digitsAndGpt2,
  smollm: digitsAndGpt2,
  'minerva-7b': digitsAndGpt2,
  'command-r': { ...digitsAndGpt2, normalizer: NFC },
  // Numbers are found among the characters that stand for bytes, and some of those are digits: so it was published.
  falcon: preTokenizer(split(PUNCTUATION_PATTERN), GPT2, DIGIT_RUNS, split(THREE_DIGITS_PATTERN)),
  'llama-bpe': llama3,
  'llama-v3': llama3,
  llama3: llama3,
  lfm2: llama3,
  pixtral: llama3,
  'midm-2.0': llama3,
  falcon3: llama3,
  'falcon-h1': llama3,
  dbrx: cl100k,
  'smaug-bpe': cl100k,
  'chatglm-bpe': cl100k,
  glm4: { ...cl100k, ignoresMerges: true },
  qwen2,
  'deepseek-r1-qwen': qwen2,
  hunyuan: { ...qwen2, normalizer: null },
  megrez: { ...qwen2, normalizer: null },
  kormo: { ...qwen2, normalizer: null },
  qwen35: { ...preTokenizer(split(QWEN35_PATTERN), BYTES), normalizer: NFC },
  'seed-coder': preTokenizer(split(SEED_CODER_PATTERN), BYTES),
  'gpt-4o': gpt4o,
  llama4: gpt4o,
  tiny_aya: preTokenizer(split(GROUPED_DIGITS_PATTERN), split(GPT_4O_PATTERN), BYTES),
  tekken: { ...preTokenizer(split(TEKKEN_PATTERN), BYTES), ignoresMerges: true, addsBos: true },
  // Published for tiktoken, which looks for the whole word first.
  'kimi-k2': { ...preTokenizer(split(KIMI_PATTERN), BYTES), ignoresMerges: true },
  'deepseek-llm': preTokenizer(...DEEPSEEK_LLM_PATTERNS.map(split), SINGLE_DIGITS, BYTES),
  'deepseek-coder': preTokenizer(...DEEPSEEK_CODER_PATTERNS.map(split), SINGLE_DIGITS, BYTES),
  'deepseek-v3': deepseekV3,
  'hunyuan-dense': deepseekV3,
  afmoe: preTokenizer(...AFMOE_PATTERNS.map(split), BYTES),
};

export const PRE_TOKENIZER_NAMES: readonly string[] = Object.keys(PRE_TOKENIZERS).sort();

/** Throws: `unsupported` for a name that is not in the table, and for a file that names none. */
export function readPreTokenizer(fields: MetadataFields): PreTokenizer {
  const name = fields.text(PRE_TOKENIZER_KEY);
  const known = `supported: ${PRE_TOKENIZER_NAMES.join(', ')}`;
  if (name === undefined) {
    const reason = 'is missing (converters wrote it from May 2024 on), so how words are split is unknown';
    throw fields.unsupported(PRE_TOKENIZER_KEY, `${reason}; use a newer conversion of the model; ${known}`);
  }
  if (!Object.hasOwn(PRE_TOKENIZERS, name))
    throw fields.unsupported(
      PRE_TOKENIZER_KEY,
      `the pre-tokenizer ${JSON.stringify(name)} is unknown; ${known}`,
    );
  return PRE_TOKENIZERS[name]!;
}
