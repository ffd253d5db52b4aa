// Adapts the stages of tokenizer.json to the tokenizer library: a stage that no golden covers is refused, and a stage
// that the library implements differently from the original is rewritten into stages that agree with it.

import { EngineError } from '../errors.ts';
import type { StageJson, TokenizerJson } from './tokenizer-json.ts';

/**
 * Contractions under `(?i:...)`: the original's case folding lets the long s (U+017F) match `s`; the library
 * folds ASCII letters only.
 */
const CASE_FOLDED_GROUPS: readonly (readonly [string, string])[] = [
  ["(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"],
  ['(?i:[sdmt]|ll|ve|re)', '(?:[sdmtSDMTſ]|[lL][lL]|[vV][eE]|[rR][eE])'],
];

/** Source: openai/gpt-2. The library's own copy takes JavaScript's whitespace, which differs in two characters. */
const GPT2_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** A tokenizer.json that the library encodes exactly as the original does. Throws: `model_invalid`. */
export function adaptTokenizerJson(json: TokenizerJson): TokenizerJson {
  checkModel(json.model);
  if (json.post_processor !== null) checkPostProcessor(json.post_processor);
  return {
    ...json,
    normalizer: json.normalizer === null ? null : adaptNormalizer(json.normalizer),
    pre_tokenizer: json.pre_tokenizer === null ? null : adaptPreTokenizer(json.pre_tokenizer, true),
  };
}

/** Whether each plain section gets a space in front when it has none. */
export function addsPrefixSpace(preTokenizer: StageJson | null): boolean {
  const first = stagesOf(preTokenizer, 'pretokenizers')[0];
  return first?.type === 'ByteLevel' && first.add_prefix_space === true;
}

/** The stages of a sequence stage, or the stage alone. */
export function stagesOf(stage: StageJson | null, listField: string): readonly StageJson[] {
  if (stage === null) return [];
  if (stage.type !== 'Sequence') return [stage];
  const list = stage[listField];
  return Array.isArray(list) ? (list as StageJson[]).flatMap(inner => stagesOf(inner, listField)) : [];
}

function checkModel(model: TokenizerJson['model']): void {
  if (model.type !== 'BPE') throw unsupported('model', model.type, 'BPE');
  for (const field of ['continuing_subword_prefix', 'end_of_word_suffix', 'dropout']) {
    if (model[field]) throw unsupported(`model with ${field}`, String(model[field]), 'null');
  }
}

function checkPostProcessor(stage: StageJson): void {
  const allowed = ['ByteLevel', 'TemplateProcessing'];
  for (const inner of stagesOf(stage, 'processors')) {
    if (!allowed.includes(inner.type)) throw unsupported('post_processor', inner.type, allowed.join(', '));
  }
}

function adaptNormalizer(stage: StageJson): StageJson {
  switch (stage.type) {
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD':
    case 'Prepend':
      return stage;
    case 'Sequence':
      return { ...stage, normalizers: (stage.normalizers as StageJson[]).map(adaptNormalizer) };
    case 'Replace':
      // The library hands the content to String.replaceAll, where `$` has a meaning.
      return { ...stage, content: String(stage.content).replaceAll('$', '$$$$') };
    default:
      throw unsupported('normalizer', stage.type, 'NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence');
  }
}

function adaptPreTokenizer(stage: StageJson, isFirst: boolean): StageJson {
  switch (stage.type) {
    case 'Sequence':
      return {
        ...stage,
        pretokenizers: (stage.pretokenizers as StageJson[]).map((inner, index) =>
          adaptPreTokenizer(inner, isFirst && index === 0),
        ),
      };
    case 'ByteLevel':
      return adaptByteLevel(stage, isFirst);
    case 'Metaspace':
      return stage;
    case 'Digits':
      // The library knows ASCII digits only; the original means every numeric character.
      return split(stage.individual_digits === true ? '\\p{N}' : '\\p{N}+');
    case 'Split':
      return adaptSplit(stage);
    default:
      throw unsupported('pre_tokenizer', stage.type, 'ByteLevel, Digits, Metaspace, Split, Sequence');
  }
}

/** The prefix space of a first stage is the tokenizer's work (`addsPrefixSpace`): it comes before the split. */
function adaptByteLevel(stage: StageJson, isFirst: boolean): StageJson {
  if (stage.add_prefix_space === true && !isFirst) {
    throw unsupported('pre_tokenizer ByteLevel', 'add_prefix_space after other stages', 'as the first stage');
  }
  const toBytes = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  if (stage.use_regex === false) return toBytes;
  return { type: 'Sequence', pretokenizers: [split(GPT2_PATTERN), toBytes] };
}

function adaptSplit(stage: StageJson): StageJson {
  const pattern = (stage.pattern ?? {}) as { Regex?: string; String?: string };
  const behavior = String(stage.behavior).toLowerCase();
  const inverted = stage.invert === true;
  if (behavior === 'mergedwithprevious' && !inverted && pattern.String?.length === 1) {
    // The library would isolate the separator; this pattern keeps it at the end of the piece before it.
    const separator = `\\u${pattern.String.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return split(`[^${separator}]*${separator}|[^${separator}]+`);
  }
  const isUsable = behavior === 'isolated' ? !inverted : behavior === 'removed';
  if (!isUsable) {
    const found = `${behavior}${inverted ? ' inverted' : ''}`;
    throw unsupported('Split behavior', found, 'Isolated, Removed, MergedWithPrevious of one character');
  }
  if (pattern.Regex === undefined && pattern.String === undefined) return stage;
  let regex = pattern.Regex ?? pattern.String!.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  for (const [folded, spelled] of CASE_FOLDED_GROUPS) regex = regex.replaceAll(folded, spelled);
  if (behavior === 'removed' && !inverted) regex = withoutCaptures(regex);
  return { ...stage, pattern: { Regex: regex } };
}

/** The library removes a separator with String.split, which also returns the matches of capturing groups. */
function withoutCaptures(regex: string): string {
  let classDepth = 0;
  return regex.replace(/\\[\s\S]|[[\]]|\((?:\?<(?![=!])[^>]*>|(?!\?))/g, found => {
    if (/^\\[1-9k]/.test(found)) throw unsupported('Split behavior', 'removed with a backreference', 'none');
    if (found === '[') classDepth++;
    if (found === ']' && classDepth > 0) classDepth--;
    return found.startsWith('(') && classDepth === 0 ? '(?:' : found;
  });
}

function split(regex: string): StageJson {
  return { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false };
}

function unsupported(what: string, found: string, allowed: string): EngineError {
  return new EngineError(
    'model_invalid',
    `tokenizer.json of the model folder has the ${what} "${found}", which is not supported; supported: ${allowed}.`,
  );
}
