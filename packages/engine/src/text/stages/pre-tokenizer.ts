// The pre-tokenizers of tokenizer.json: a text to the words that are merged each for itself. Computed as the original computes
// them; a stage or option that is not is refused by name when the model is loaded.

import { toByteCharacters } from './byte-characters.ts';
import { compilePattern, literalPattern } from './compile-pattern.ts';
import { behaviorOf, splitText } from './split-text.ts';
import { patternOf, type StageJson, stagesOf, unsupported } from './stage.ts';

/** `isTextStart`: the piece begins where the whole text begins. */
type PreTokenizerStage = (piece: string, isTextStart: boolean) => readonly string[];

export type PreTokenizer = (text: string, isTextStart: boolean) => readonly string[];

/** Source: openai/gpt-2. */
const GPT2_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
/** The original asks another library here, whose words also hold joining characters. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const SUPPORTED = 'ByteLevel, Digits, Metaspace, Punctuation, Split, Whitespace, WhitespaceSplit, Sequence';

/** Throws: `model_invalid`. */
export function createPreTokenizer(json: StageJson | null): PreTokenizer {
  const stages = stagesOf(json, 'pretokenizers').map(createStage);
  return (text, isTextStart) => {
    let pieces: readonly string[] = [text];
    for (const stage of stages)
      pieces = pieces.flatMap((piece, i) => (piece === '' ? [] : stage(piece, isTextStart && i === 0)));
    return pieces;
  };
}

function createStage(stage: StageJson): PreTokenizerStage {
  switch (stage.type) {
    case 'ByteLevel':
      return createByteLevel(stage);
    case 'Digits': {
      const isEach = stage.individual_digits === true;
      const digits = compilePattern(isEach ? '\\p{N}' : '\\p{N}+');
      return piece => splitText(piece, digits, 'Isolated');
    }
    case 'Metaspace':
      return createMetaspace(stage);
    case 'Punctuation': {
      const [pattern, behavior] = [
        compilePattern('[\\p{P}$+<=>^`|~]'),
        behaviorOf({ ...stage, behavior: stage.behavior ?? 'Isolated' }),
      ];
      return piece => splitText(piece, pattern, behavior);
    }
    case 'Split': {
      const { String: text, Regex: regex } = patternOf(stage);
      const pattern = regex === undefined ? literalPattern(text!) : compilePattern(regex);
      const [behavior, inverted] = [behaviorOf(stage), stage.invert === true];
      return piece => splitText(piece, pattern, behavior, inverted);
    }
    case 'Whitespace': {
      const words = compilePattern(`[${WORD}]+|[^${WORD}\\s]+`);
      return piece => splitText(piece, words, 'Removed', true);
    }
    case 'WhitespaceSplit': {
      const space = compilePattern('\\s');
      return piece => splitText(piece, space, 'Removed');
    }
    default:
      throw unsupported('pre_tokenizer', stage.type, SUPPORTED);
  }
}

function createByteLevel(stage: StageJson): PreTokenizerStage {
  const prefixesSpace = stage.add_prefix_space === true;
  const words = stage.use_regex === false ? null : compilePattern(GPT2_PATTERN);
  return piece => {
    const prefixed = prefixesSpace && !piece.startsWith(' ') ? ` ${piece}` : piece;
    const pieces = words === null ? [prefixed] : splitText(prefixed, words, 'Isolated');
    return pieces.map(toByteCharacters);
  };
}

const SCHEMES = ['always', 'first', 'never'] as const;

function createMetaspace(stage: StageJson): PreTokenizerStage {
  const mark = typeof stage.replacement === 'string' ? stage.replacement : '▁';
  // Older files have a flag in place of the scheme.
  const scheme = stage.prepend_scheme ?? (stage.add_prefix_space === false ? 'never' : 'always');
  if (!SCHEMES.some(known => known === scheme))
    throw unsupported('Metaspace prepend_scheme', String(scheme), SCHEMES.join(', '));
  const splits = stage.split !== false;
  const marks = literalPattern(mark);
  return (piece, isTextStart) => {
    const marked = piece.replaceAll(' ', () => mark);
    const isPrefixed =
      !marked.startsWith(mark) && (scheme === 'always' || (scheme === 'first' && isTextStart));
    const prefixed = isPrefixed ? mark + marked : marked;
    return splits ? splitText(prefixed, marks, 'MergedWithNext') : [prefixed];
  };
}
