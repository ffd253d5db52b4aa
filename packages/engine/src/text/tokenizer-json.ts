// Reads and validates the tokenizer files of a model folder; types for the part of tokenizer.json that the text side uses.
// The files are checked once, here; the rest of this folder relies on the types.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../errors.ts';
import type { AddedTokenJson } from './added-tokens.ts';
import type { BpeSettings } from './bpe/bpe-model.ts';
import type { MergeTable } from './bpe/merge-table.ts';
import { readMerges, readVocabulary, splitTokenizerJson, TOKEN_ID_LIMIT } from './bpe/read-model.ts';
import type { Vocabulary } from './bpe/vocabulary.ts';
import { withNamedTokens } from './named-tokens.ts';
import { type StageJson, unsupported } from './stages/stage.ts';

export interface TokenizerJson {
  readonly added_tokens: readonly AddedTokenJson[];
  readonly normalizer: StageJson | null;
  readonly pre_tokenizer: StageJson | null;
  readonly post_processor: StageJson | null;
  readonly decoder: StageJson | null;
  readonly model: BpeModelJson;
}

/** The model, whose vocabulary and merges are tables. */
export interface BpeModelJson {
  readonly vocabulary: Vocabulary;
  readonly merges: MergeTable;
  readonly settings: BpeSettings;
}

/** The files of a model folder that configure the text side. */
export interface TokenizerFiles {
  readonly tokenizer: TokenizerJson;
  /** tokenizer_config.json with the named tokens of special_tokens_map.json under it; empty when absent. */
  readonly config: JsonObject;
  readonly modelConfig: JsonObject;
  readonly generationConfig: JsonObject;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const TOKENIZER_FILE = 'tokenizer.json';
/**
 * The files are read on the thread that serves all requests. The largest published tokenizer.json has 35 MB, other files have less than
 * 3 MB.
 */
const MOST_TOKENIZER_BYTES = 128 * 1024 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/** Reads the tokenizer files of a model folder. Throws: `model_invalid` naming the file. */
export async function readTokenizerFiles(modelDir: string): Promise<TokenizerFiles> {
  const [tokenizer, config, specialTokens, modelConfig, generationConfig] = await Promise.all([
    readBytes(modelDir, TOKENIZER_FILE),
    readJson(modelDir, 'tokenizer_config.json'),
    readJson(modelDir, 'special_tokens_map.json'),
    readJson(modelDir, 'config.json'),
    readJson(modelDir, 'generation_config.json'),
  ]);
  if (tokenizer === null) throw invalid('tokenizer.json', `the folder ${modelDir} has no such file`);
  const merged = { ...specialTokens, ...config };
  const configured = withConfiguredTokens(parseTokenizerJson(tokenizer), merged.added_tokens_decoder);
  return {
    tokenizer: { ...configured, added_tokens: withNamedTokens(configured, merged) },
    config: merged,
    modelConfig: modelConfig ?? {},
    generationConfig: generationConfig ?? {},
  };
}

/**
 * Reads the content of a tokenizer.json, and fills what older files leave out. The vocabulary and the merges are read from the bytes
 * into tables. Throws: `model_invalid`.
 */
export function parseTokenizerJson(bytes: Uint8Array): TokenizerJson {
  const { rest, vocab, merges } = parsing('tokenizer.json', () => splitTokenizerJson(bytes));
  if (!isObject(rest)) throw invalid('tokenizer.json', 'it must hold a JSON object');
  const settings = readSettings(rest.model, merges !== undefined);
  const added = rest.added_tokens ?? [];
  if (!Array.isArray(added)) throw invalid('tokenizer.json', '"added_tokens" must be a list');
  const vocabulary = readVocabulary(bytes, vocab);
  const tokens = added.map((token, index) => checkAddedToken(token, `"added_tokens[${index}]"`));
  return {
    added_tokens: withVocabularyIds(tokens, vocabulary, 'tokenizer.json'),
    normalizer: checkStage(rest.normalizer, 'normalizer'),
    pre_tokenizer: checkStage(rest.pre_tokenizer, 'pre_tokenizer'),
    post_processor: checkStage(rest.post_processor, 'post_processor'),
    decoder: checkStage(rest.decoder, 'decoder'),
    model: { vocabulary, merges: readMerges(bytes, merges, vocabulary), settings },
  };
}

function readSettings(model: unknown, hasMerges: boolean): BpeSettings {
  if (!isObject(model)) throw invalid('tokenizer.json', '"model" must be an object');
  // Files of before 2021 leave the type out; only BPE has merges.
  const type = model.type ?? (hasMerges ? 'BPE' : 'unknown');
  if (type !== 'BPE') throw unsupported('model', String(type), 'BPE');
  for (const field of ['continuing_subword_prefix', 'end_of_word_suffix', 'dropout'])
    if (model[field]) throw unsupported(`model with ${field}`, String(model[field]), 'null');
  return {
    unknownToken: typeof model.unk_token === 'string' ? model.unk_token : null,
    fusesUnknown: model.fuse_unk === true,
    hasByteFallback: model.byte_fallback === true,
    ignoresMerges: model.ignore_merges === true,
  };
}

/**
 * The added tokens of tokenizer_config.json take the place of those with the same text, as in `transformers`. Throws:
 * `model_invalid`.
 */
export function withConfiguredTokens(tokenizer: TokenizerJson, configured: unknown): TokenizerJson {
  if (!isObject(configured)) return tokenizer;
  const added = new Map(tokenizer.added_tokens.map(token => [token.content, token]));
  for (const [id, entry] of Object.entries(configured)) {
    const place = `"added_tokens_decoder.${id}"`;
    if (!isObject(entry)) throw invalid('tokenizer_config.json', `${place} must be an object`);
    const token = checkAddedToken({ ...entry, id: Number(id) }, place, 'tokenizer_config.json');
    const known = added.get(token.content);
    added.set(token.content, { ...token, id: known?.id ?? token.id });
  }
  const tokens = [...added.values()];
  return {
    ...tokenizer,
    added_tokens: withVocabularyIds(tokens, tokenizer.model.vocabulary, 'tokenizer_config.json'),
  };
}

/**
 * An added token that the vocabulary has too keeps its id there, as in `tokenizers`. Throws: `model_invalid` where two tokens would have
 * one id, for which `tokenizers` makes up another one.
 */
function withVocabularyIds(
  tokens: readonly AddedTokenJson[],
  vocabulary: Vocabulary,
  file: string,
): readonly AddedTokenJson[] {
  const contentOf = new Map<number, string>();
  return tokens.map(token => {
    const { content } = token;
    const id = vocabulary.idOf(content) ?? token.id;
    const other = contentOf.get(id) ?? vocabulary.textOf(id);
    if (other !== '' && other !== content)
      throw invalid(
        file,
        `the added token ${JSON.stringify(content)} has the id ${id} of ${JSON.stringify(other)}`,
      );
    contentOf.set(id, content);
    return { ...token, id };
  });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkAddedToken(value: unknown, place: string, file = 'tokenizer.json'): AddedTokenJson {
  if (!isObject(value) || !isTokenId(value.id) || typeof value.content !== 'string') {
    const expected = `an id that is a whole number below ${TOKEN_ID_LIMIT}, and a content`;
    throw invalid(file, `${place} must have ${expected}`);
  }
  const special = value.special === true;
  return {
    id: value.id,
    content: value.content,
    single_word: value.single_word === true,
    lstrip: value.lstrip === true,
    rstrip: value.rstrip === true,
    normalized: value.normalized === undefined ? !special : value.normalized === true,
    special,
  };
}

function isTokenId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < TOKEN_ID_LIMIT;
}

function checkStage(value: unknown, name: string): StageJson | null {
  if (value === null || value === undefined) return null;
  if (!isObject(value) || typeof value.type !== 'string') {
    throw invalid('tokenizer.json', `"${name}" must be null or an object with a type`);
  }
  return value as StageJson;
}

/** Null where the folder has no such file. Throws: `model_invalid`. */
export async function readJson(folder: string, file: string): Promise<JsonObject | null> {
  const text = await readText(folder, file);
  if (text === null) return null;
  const value: unknown = parsing(file, () => parsePythonJson(text));
  if (!isObject(value)) throw invalid(file, 'it must hold a JSON object');
  return value;
}

/** Null where the folder has no such file. Throws: `model_invalid`. */
export async function readText(folder: string, file: string): Promise<string | null> {
  return (await readBytes(folder, file))?.toString() ?? null;
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b/g;

/** Python writes numbers that JSON does not have, as in Mamba's `time_step_limit`; nothing here reads one, so they become null. */
function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const plain = text.replaceAll(TEXT_OR_NUMBER, found => (found.startsWith('"') ? found : 'null'));
    if (plain === text) throw error;
    return JSON.parse(plain);
  }
}

async function readBytes(folder: string, file: string): Promise<Buffer | null> {
  const path = join(folder, file);
  const limit = file === TOKENIZER_FILE ? MOST_TOKENIZER_BYTES : MOST_BYTES;
  try {
    const { size } = await stat(path);
    if (size > limit) throw invalid(file, `it has ${size} bytes, and at most ${limit} are read`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new EngineError('model_invalid', `${file} of the model folder cannot be read.`, { cause });
  }
}

function parsing<Value>(file: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw invalid(file, `it is not valid JSON (${cause.message})`);
  }
}

function invalid(file: string, problem: string): EngineError {
  return new EngineError('model_invalid', `${file} of the model folder is unusable: ${problem}.`);
}
