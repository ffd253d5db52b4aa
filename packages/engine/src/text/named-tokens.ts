// The tokens that tokenizer_config.json names (`eos_token`, `additional_special_tokens`, ...). Naming a token makes it special, as in
// `transformers`: it is found in texts as a whole, and left out of answers.

import type { AddedTokenJson } from './added-tokens.ts';
import type { Vocabulary } from './bpe/vocabulary.ts';

/** Text of a special token entry, which is a string or an object with `content`. */
export function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'content' in value) return String(value.content);
  return null;
}

/** Where a vocabulary has no token for them, files name any other one, such as `!`, the first of many. */
const MAYBE_TEXT: readonly string[] = ['pad_token', 'unk_token'];

interface KnownTokens {
  readonly added_tokens: readonly AddedTokenJson[];
  readonly model: { readonly vocabulary: Vocabulary };
}

/**
 * The added tokens with the named ones. A named token that neither the vocabulary nor the added tokens have is left out: the model has no
 * row for it.
 */
export function withNamedTokens(
  { added_tokens: tokens, model: { vocabulary } }: KnownTokens,
  config: Readonly<Record<string, unknown>>,
): readonly AddedTokenJson[] {
  const added = new Map(tokens.map(token => [token.content, token]));
  const add = (entry: unknown): void => {
    const content = tokenText(entry);
    if (content === null || content === '') return;
    const known = added.get(content);
    const id = known?.id ?? vocabulary.idOf(content);
    if (id === undefined) return;
    const flags = known ?? (typeof entry === 'string' ? {} : (entry as Partial<AddedTokenJson>));
    added.set(content, {
      id,
      content,
      single_word: flags.single_word === true,
      lstrip: flags.lstrip === true,
      rstrip: flags.rstrip === true,
      normalized: flags.normalized === true,
      special: true,
    });
  };
  for (const [name, entry] of Object.entries(config))
    if (name.endsWith('_token') && !MAYBE_TEXT.includes(name)) add(entry);
  for (const named of [config.additional_special_tokens, config.extra_special_tokens]) {
    if (typeof named !== 'object' || named === null) continue;
    // A token of a list stays as tokenizer.json has it.
    const isKnown = (entry: unknown) => Array.isArray(named) && added.has(tokenText(entry) ?? '');
    for (const entry of Object.values(named)) if (!isKnown(entry)) add(entry);
  }
  return [...added.values()];
}
