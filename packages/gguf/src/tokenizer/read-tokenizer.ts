// Makes the tokenizer files of a Hugging Face folder from the metadata of a GGUF file. The builder writes them beside the
// graphs, and everything that reads tokenizer.json applies.

import type { GgufMetadata } from '../metadata.ts';
import { isPhi3, listAddedTokens } from './added-tokens.ts';
import { readPipeline, readTokenizerKind, type TokenizerKind } from './bpe-model.ts';
import { readChatTemplates } from './chat-templates.ts';
import { MetadataFields } from './metadata-fields.ts';
import { readSpecialTokens, type SpecialTokens } from './special-tokens.ts';
import type { GenerationTokenIds, TokenizerConfig, TokenizerJson, TokenizerStage } from './tokenizer-json.ts';
import { readVocabulary, type Vocabulary } from './vocabulary.ts';

export interface GgufTokenizer {
  /** Content of tokenizer.json. */
  readonly tokenizer: TokenizerJson;
  /** Content of tokenizer_config.json, chat templates included. */
  readonly config: TokenizerConfig;
  /** Token ids of generation_config.json. */
  readonly generation: GenerationTokenIds;
}

/** Ids that a text begins and ends with. */
interface TextEnds {
  readonly bos: number | undefined;
  readonly eos: number | undefined;
}

/**
 * The tokenizer and the chat templates in a file's metadata; `file` is its path, for errors.
 * Throws: `corrupt` for missing or contradictory metadata, `unsupported` for other kinds of tokenizers and pre-tokenizers.
 */
export function readGgufTokenizer(metadata: GgufMetadata, file: string): GgufTokenizer {
  const fields = new MetadataFields(metadata, file);
  const kind = readTokenizerKind(fields);
  const vocabulary = readVocabulary(fields);
  const special = readSpecialTokens(kind, fields, vocabulary);
  const pipeline = readPipeline(kind, fields, vocabulary, special.unknown);
  const ends = readTextEnds(kind, fields, special, pipeline.addsBos);
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: listAddedTokens(vocabulary, special, isPhi3(kind, fields)),
      normalizer: pipeline.normalizer,
      pre_tokenizer: pipeline.preTokenizer,
      post_processor: textTemplate(ends, vocabulary),
      decoder: pipeline.decoder,
      model: pipeline.model,
    },
    config: toConfig(fields, special, ends, vocabulary),
    generation: {
      ...(special.bos !== undefined && { bos_token_id: special.bos }),
      ...(special.padding !== undefined && { pad_token_id: special.padding }),
      eos_token_id: special.endOfGeneration,
    },
  };
}

/** Plain texts get these tokens. Prompts of chat templates do not: the templates write them. */
function readTextEnds(
  kind: TokenizerKind,
  fields: MetadataFields,
  { bos, eos }: SpecialTokens,
  addsBosByDefault: boolean,
): TextEnds {
  const bosKey = 'tokenizer.ggml.add_bos_token';
  const eosKey = 'tokenizer.ggml.add_eos_token';
  const saysBos = fields.flag(bosKey);
  const addsEos = fields.flag(eosKey) ?? false;
  if (saysBos === true && bos === undefined)
    throw fields.corrupt(bosKey, 'is true, but tokenizer.ggml.bos_token_id is missing');
  if (addsEos && eos === undefined)
    throw fields.corrupt(eosKey, 'is true, but tokenizer.ggml.eos_token_id is missing');
  // Gemma 4 cannot do without; its first files said false. llama.cpp overrides them too.
  const addsBos = kind === 'gemma4' || (saysBos ?? addsBosByDefault);
  return { bos: addsBos ? bos : undefined, eos: addsEos ? eos : undefined };
}

function textTemplate({ bos, eos }: TextEnds, { tokens }: Vocabulary): TokenizerStage | null {
  if (bos === undefined && eos === undefined) return null;
  const around = (sequence: 'A' | 'B', typeId: number) => {
    const token = (id: number | undefined) =>
      id === undefined ? [] : [{ SpecialToken: { id: tokens[id]!, type_id: typeId } }];
    return [...token(bos), { Sequence: { id: sequence, type_id: typeId } }, ...token(eos)];
  };
  const used = [bos, eos].filter(id => id !== undefined);
  return {
    type: 'TemplateProcessing',
    single: around('A', 0),
    pair: [...around('A', 0), ...around('B', 1)],
    special_tokens: Object.fromEntries(
      used.map(id => [tokens[id]!, { id: tokens[id]!, ids: [id], tokens: [tokens[id]!] }]),
    ),
  };
}

function toConfig(
  fields: MetadataFields,
  special: SpecialTokens,
  ends: TextEnds,
  { tokens }: Vocabulary,
): TokenizerConfig {
  const chatTemplate = readChatTemplates(fields);
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    add_bos_token: ends.bos !== undefined,
    add_eos_token: ends.eos !== undefined,
    ...(special.bos !== undefined && { bos_token: tokens[special.bos]! }),
    ...(special.eos !== undefined && { eos_token: tokens[special.eos]! }),
    ...(special.unknown !== undefined && { unk_token: tokens[special.unknown]! }),
    ...(special.padding !== undefined && { pad_token: tokens[special.padding]! }),
    ...(chatTemplate !== undefined && { chat_template: chatTemplate }),
  };
}
