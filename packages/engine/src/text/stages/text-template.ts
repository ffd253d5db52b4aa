// The special tokens that the post-processor of tokenizer.json puts around a text.

import { type StageJson, stagesOf, unsupported } from './stage.ts';

export interface TextTemplate {
  readonly prefixIds: readonly number[];
  readonly suffixIds: readonly number[];
}

/** Throws: `model_invalid` for other post-processors, and for special tokens without ids. */
export function readTextTemplate(json: StageJson | null): TextTemplate {
  let template: TextTemplate = { prefixIds: [], suffixIds: [] };
  for (const stage of stagesOf(json, 'processors')) {
    // Only offsets of tokens in the text depend on it.
    if (stage.type === 'ByteLevel') continue;
    if (stage.type !== 'TemplateProcessing')
      throw unsupported('post_processor', stage.type, 'ByteLevel, TemplateProcessing, Sequence');
    const { prefixIds, suffixIds } = readTemplate(stage);
    template = {
      prefixIds: [...prefixIds, ...template.prefixIds],
      suffixIds: [...template.suffixIds, ...suffixIds],
    };
    const count = template.prefixIds.length + template.suffixIds.length;
    if (count > MOST_TOKENS)
      throw unsupported('post_processor', `${count} tokens around a text`, `at most ${MOST_TOKENS}`);
  }
  return template;
}

/** Published ones have one or two. */
const MOST_TOKENS = 64;

/** As the file has it; null is one of the things that it may have in place of a piece. */
type TemplatePiece = {
  readonly SpecialToken?: { readonly id: string };
  readonly Sequence?: { readonly id: string };
} | null;

function readTemplate(stage: StageJson): TextTemplate {
  const pieces = stage.single as readonly TemplatePiece[];
  const places = Array.isArray(pieces) ? pieces.filter(piece => piece?.Sequence !== undefined) : [];
  if (places.length !== 1)
    throw unsupported('TemplateProcessing', JSON.stringify(stage.single), 'a list with the text once');
  const at = pieces.indexOf(places[0]!);
  const idsOf = (list: readonly TemplatePiece[]) =>
    list.flatMap(piece => idsOfToken(stage, piece?.SpecialToken?.id));
  return { prefixIds: idsOf(pieces.slice(0, at)), suffixIds: idsOf(pieces.slice(at + 1)) };
}

function idsOfToken(stage: StageJson, name: string | undefined): readonly number[] {
  const tokens = (stage.special_tokens ?? {}) as Readonly<Record<string, { readonly ids?: unknown }>>;
  const ids = name === undefined ? undefined : tokens[name]?.ids;
  if (Array.isArray(ids) && ids.every(id => Number.isInteger(id) && id >= 0)) return ids as number[];
  throw unsupported('TemplateProcessing token', String(name), 'tokens with ids in "special_tokens"');
}
