// The vocabulary of a GGUF file: its tokens, their types and scores.

import type { MetadataFields } from './metadata-fields.ts';

const TOKENS_KEY = 'tokenizer.ggml.tokens';
const TOKEN_TYPES_KEY = 'tokenizer.ggml.token_type';
export const SCORES_KEY = 'tokenizer.ggml.scores';

/** Source: the GGUF specification, `tokenizer.ggml.token_type`. */
const TOKEN_TYPES = ['undefined', 'normal', 'unknown', 'control', 'user-defined', 'unused', 'byte'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

export interface Vocabulary {
  /** Tokens by id; empty for the padding of a vocabulary, which has no token. */
  readonly tokens: readonly string[];
  readonly idOf: ReadonlyMap<string, number>;
  /** The file's type of a token; `normal` where the file has no types. */
  readonly typeOf: (id: number) => TokenType;
  /** Undefined where the file has none. */
  readonly scores: ArrayLike<number> | undefined;
}

/** Throws: `corrupt`. */
export function readVocabulary(fields: MetadataFields): Vocabulary {
  const texts = fields.texts(TOKENS_KEY);
  if (texts === undefined) throw fields.corrupt(TOKENS_KEY, 'is missing');
  if (texts.length === 0) throw fields.corrupt(TOKENS_KEY, 'has no tokens');
  const types = fields.numbers(TOKEN_TYPES_KEY, texts.length);
  if (types !== undefined) checkTypes(types, fields);
  const typeOf = (id: number) => (types === undefined ? 'normal' : TOKEN_TYPES[types[id]!]!);
  const tokens = texts.map((text, id) => (isPadding(text, id, typeOf(id)) ? '' : text));
  const idOf = new Map<string, number>();
  for (let id = 0; id < tokens.length; id++) {
    const token = tokens[id]!;
    if (token === '') continue;
    const first = idOf.get(token);
    if (first !== undefined)
      throw fields.corrupt(TOKENS_KEY, `has ${JSON.stringify(token)} twice, as ids ${first} and ${id}`);
    idOf.set(token, id);
  }
  return { tokens, idOf, typeOf, scores: fields.numbers(SCORES_KEY, tokens.length) };
}

/**
 * Converters fill a vocabulary up to the rows of the embedding with `[PAD123]`, the id in it. The published tokenizer has no
 * such tokens, and the text must not become one.
 */
function isPadding(text: string, id: number, type: TokenType): boolean {
  return (type === 'unused' || type === 'user-defined') && text === `[PAD${id}]`;
}

function checkTypes(types: ArrayLike<number>, fields: MetadataFields): void {
  for (let id = 0; id < types.length; id++) {
    if (TOKEN_TYPES[types[id]!] === undefined)
      throw fields.corrupt(TOKEN_TYPES_KEY, `gives id ${id} the unknown type ${types[id]}`);
  }
}
