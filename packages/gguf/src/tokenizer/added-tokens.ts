// The added tokens: those found in a text as they are, before it is normalised, split and merged.

import type { MetadataFields } from './metadata-fields.ts';
import type { SpecialTokens } from './special-tokens.ts';
import type { AddedToken } from './tokenizer-json.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Phi-3 drops white space after its tokens, except after these. The file does not say so; other published families with
 * SentencePiece vocabularies strip nothing.
 */
const PHI3_ARCHITECTURE = 'phi3';
const PHI3_KEEPING_SPACE = ['<unk>', '<s>', '<|endoftext|>'];

/**
 * Added tokens in the order of their ids. Control tokens and the unknown token are special, so are the tokens that end an
 * answer or begin a text: some files give those an ordinary type. User-defined tokens are found in the text all the same,
 * but belong to it.
 */
export function listAddedTokens(
  { tokens, typeOf }: Vocabulary,
  { bos, endOfGeneration }: SpecialTokens,
  isPhi3: boolean,
): readonly AddedToken[] {
  const roles = new Set([...endOfGeneration, ...(bos === undefined ? [] : [bos])]);
  return tokens.flatMap((content, id) => {
    if (content === '') return [];
    const type = typeOf(id);
    const special = type === 'control' || type === 'unknown' || roles.has(id);
    if (!special && type !== 'user-defined') return [];
    return {
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: isPhi3 && !PHI3_KEEPING_SPACE.includes(content),
      normalized: false,
      special,
    };
  });
}

/** Whether the file is a Phi-3 or Phi-3.5; Phi-4 mini shares the architecture and has another kind of vocabulary. */
export function isPhi3(kind: string, fields: MetadataFields): boolean {
  return kind === 'llama' && fields.text('general.architecture') === PHI3_ARCHITECTURE;
}
