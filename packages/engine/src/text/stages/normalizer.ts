// The normalizers of tokenizer.json: a text to the text that is split into words. Computed as the original computes them; a stage
// that is not is refused by name when the model is loaded.

import { EngineError } from '../../errors.ts';
import { toByteCharacters } from './byte-characters.ts';
import { compilePattern } from './compile-pattern.ts';
import { isCheapPattern } from './matching-cost.ts';
import { refusePattern } from './pattern-reader.ts';
import { findMatches } from './split-text.ts';
import { patternOf, type StageJson, stagesOf, unsupported } from './stage.ts';

export type Normalizer = (text: string) => string;

/** Longest text that a stage writes in place of another one. Published ones have up to 3. Unit: UTF-16 code units. */
const LONGEST_CONTENT = 64;
/** No form of Unicode and no alphabet of bytes makes a text so many times as long. */
const MOST_GROWTH = 64;
/** Growth of short texts does not matter. Unit: UTF-16 code units. */
const SHORT_LENGTH = 4_096;

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;
const SUPPORTED = `${FORMS.join(', ')}, ByteLevel, Lowercase, Prepend, Replace, Strip, StripAccents, Sequence`;

/** Null where nothing is normalised. Throws: `model_invalid`. */
export function createNormalizer(json: StageJson | null): Normalizer | null {
  const stages = stagesOf(json, 'normalizers').map(createStage);
  if (json === null) return null;
  return text => {
    const longest = Math.max(text.length * MOST_GROWTH, SHORT_LENGTH);
    let current = text;
    for (const stage of stages) {
      current = stage(current);
      if (current.length > longest) throw growsTooMuch();
    }
    return current;
  };
}

function growsTooMuch(): EngineError {
  const message = `The normalizer of the model's tokenizer makes this text more than ${MOST_GROWTH} times as long.`;
  return new EngineError('invalid_request', message, { parameter: 'prompt' });
}

/** Throws: `model_invalid` for a long text, which would make a long one of every text. */
function contentOf(stage: StageJson, field: string): string {
  const content = String(stage[field]);
  if (content.length <= LONGEST_CONTENT) return content;
  const found = `${stage.type} of ${content.length} characters`;
  throw unsupported('normalizer', found, `at most ${LONGEST_CONTENT} characters`);
}

function createStage(stage: StageJson): Normalizer {
  const form = FORMS.find(known => known === stage.type);
  if (form !== undefined) return text => text.normalize(form);
  switch (stage.type) {
    case 'ByteLevel':
      return toByteCharacters;
    case 'Lowercase':
      return lowerCase;
    case 'Prepend': {
      const prefix = contentOf(stage, 'prepend');
      return text => (text === '' ? text : prefix + text);
    }
    case 'Replace': {
      const { String: found, Regex: regex } = patternOf(stage);
      const content = contentOf(stage, 'content');
      if (regex === undefined) return text => text.replaceAll(found!, () => content);
      const pattern = compilePattern(regex);
      // Added tokens go through it when the model is loaded.
      if (!isCheapPattern(pattern.source)) throw refusePattern(regex, 'patterns that may match for long');
      return text => replace(text, pattern, content);
    }
    case 'Strip': {
      const [left, right] = [stage.strip_left === true, stage.strip_right === true];
      return text => strip(text, left, right);
    }
    case 'StripAccents':
      return text => text.replace(/\p{M}/gu, '');
    default:
      throw unsupported('normalizer', stage.type, SUPPORTED);
  }
}

/** Letter by letter, as the original does: the letters around a sigma do not matter. */
function lowerCase(text: string): string {
  let lowered = '';
  for (const character of text) lowered += character.toLowerCase();
  return lowered;
}

function replace(text: string, pattern: RegExp, content: string): string {
  let replaced = '';
  let from = 0;
  for (const { start, end } of findMatches(text, pattern)) {
    replaced += text.slice(from, start) + content;
    from = end;
  }
  return replaced + text.slice(from);
}

function strip(text: string, left: boolean, right: boolean): string {
  const withoutLeft = left ? text.replace(/^\p{White_Space}+/u, '') : text;
  if (!right) return withoutLeft;
  let end = withoutLeft.length;
  while (end > 0 && /\p{White_Space}/u.test(withoutLeft[end - 1]!)) end--;
  return withoutLeft.slice(0, end);
}
