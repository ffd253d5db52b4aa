// The models of the three kinds of vocabulary (`tokenizer.ggml.model`), with the stages that belong to each. All are BPE:
//
//   gpt2    bytes as printable characters, merges in the file, words split by `tokenizer.ggml.pre`
//   llama   SentencePiece: spaces as marks, merges from scores, other characters as byte tokens
//   gemma4  as llama, with the merges in the file

import { mergesFromScores, readMerges } from './merges.ts';
import type { MetadataFields } from './metadata-fields.ts';
import { readPreTokenizer } from './pre-tokenizers.ts';
import type { BpeModel, TokenizerStage } from './tokenizer-json.ts';
import type { Vocabulary } from './vocabulary.ts';

const MODEL_KEY = 'tokenizer.ggml.model';

const KINDS = ['gpt2', 'llama', 'gemma4'] as const;
export type TokenizerKind = (typeof KINDS)[number];

/** A model and the stages around it. */
export interface Pipeline {
  readonly normalizer: TokenizerStage | null;
  readonly preTokenizer: TokenizerStage | null;
  readonly model: BpeModel;
  readonly decoder: TokenizerStage;
  /** Whether texts begin with the beginning-of-sequence token where the file does not say it. */
  readonly addsBos: boolean;
}

const SPACE_MARK = '▁';

/** Throws: `corrupt` for a file without tokenizer, `unsupported` for another kind of it. */
export function readTokenizerKind(fields: MetadataFields): TokenizerKind {
  const name = fields.text(MODEL_KEY);
  if (name === undefined) throw fields.corrupt(MODEL_KEY, 'is missing: the file has no tokenizer');
  const kind = KINDS.find(known => known === name);
  if (kind !== undefined) return kind;
  throw fields.unsupported(
    MODEL_KEY,
    `the tokenizer ${JSON.stringify(name)} is not supported; supported: ${KINDS.join(', ')}`,
  );
}

/** `unknownId` is the token of texts that the vocabulary cannot spell. Throws: `corrupt`, `unsupported`. */
export function readPipeline(
  kind: TokenizerKind,
  fields: MetadataFields,
  vocabulary: Vocabulary,
  unknownId: number | undefined,
): Pipeline {
  if (kind === 'gpt2') return byteLevelPipeline(fields, vocabulary);
  const unknown = unknownId === undefined ? null : (vocabulary.tokens[unknownId] ?? null);
  if (kind === 'llama') {
    const prefixesSpace = fields.flag('tokenizer.ggml.add_space_prefix') ?? true;
    return sentencePiecePipeline(vocabulary, mergesFromScores(fields, vocabulary), unknown, prefixesSpace);
  }
  return sentencePiecePipeline(vocabulary, readMerges(fields, vocabulary), unknown, false);
}

function byteLevelPipeline(fields: MetadataFields, vocabulary: Vocabulary): Pipeline {
  const { normalizer, stages, ignoresMerges, addsBos } = readPreTokenizer(fields);
  return {
    normalizer,
    preTokenizer: stages.length === 1 ? stages[0]! : { type: 'Sequence', pretokenizers: stages },
    model: {
      ...bpeModel(vocabulary, readMerges(fields, vocabulary)),
      ignore_merges: ignoresMerges,
    },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    addsBos,
  };
}

function sentencePiecePipeline(
  vocabulary: Vocabulary,
  merges: readonly string[],
  unknown: string | null,
  prefixesSpace: boolean,
): Pipeline {
  const toMarks: TokenizerStage = { type: 'Replace', pattern: { String: ' ' }, content: SPACE_MARK };
  const toSpaces = [
    { type: 'Replace', pattern: { String: SPACE_MARK }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
  ];
  return {
    // The text after each added token gets the space too.
    normalizer: prefixesSpace
      ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: SPACE_MARK }, toMarks] }
      : toMarks,
    preTokenizer: null,
    model: {
      ...bpeModel(vocabulary, merges),
      unk_token: unknown,
      fuse_unk: true,
      byte_fallback: true,
    },
    decoder: {
      type: 'Sequence',
      decoders: prefixesSpace ? [...toSpaces, { type: 'Strip', content: ' ', start: 1, stop: 0 }] : toSpaces,
    },
    addsBos: true,
  };
}

function bpeModel({ idOf }: Vocabulary, merges: readonly string[]): BpeModel {
  const vocab: Record<string, number> = Object.create(null);
  for (const [token, id] of idOf) vocab[token] = id;
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab,
    merges,
  };
}
