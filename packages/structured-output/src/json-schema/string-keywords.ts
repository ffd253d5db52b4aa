// Keywords about strings: patterns and formats become patterns of llguidance.

import type { JsonMap, JsonValue } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';
import { checkMaskCost, checkPatternSize } from '../regex/check-regex.ts';
import { translateSearchPattern, UntranslatablePattern } from '../regex/ecma-regex.ts';
import { STRING_FORMATS } from './formats.ts';
import type { KeywordNormaliser, SchemaPlace } from './keyword-normaliser.ts';

/** Mutates: `out`, and `also`, schemas that hold as well. */
export function normaliseStringKeywords(
  normaliser: KeywordNormaliser,
  source: JsonMap,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
  also: JsonValue[],
): void {
  const { pattern, format } = source;
  if (pattern !== undefined) {
    const place = pointer(at.place, 'pattern');
    if (typeof pattern !== 'string') refuse(place, 'pattern must be a string');
    const translated = translatePattern(pattern, place, normaliser);
    if (translated === null) normaliser.markUnenforced('pattern', at);
    else out.pattern = translated;
  }
  const known = typeof format === 'string' ? STRING_FORMATS.get(format) : undefined;
  if (known === undefined) return;
  also.push({
    pattern: `^${translateSearchPattern(known.generated ?? known.pattern).pattern}$`,
    ...(known.maxLength !== undefined && { maxLength: known.maxLength }),
  });
}

/** Null when no grammar expresses it. Throws: `invalid_constraint` when it is not a regular expression or too long. */
export function translatePattern(
  pattern: string,
  place: string,
  normaliser: KeywordNormaliser,
): string | null {
  const { limits, fitsMaskBudget } = normaliser.options;
  const { patternBytes } = limits;
  if (Buffer.byteLength(pattern) > patternBytes)
    refuse(place, `A pattern may have ${patternBytes} bytes at most`);
  checkPatternSize(pattern, place, limits);
  try {
    const translated = translateSearchPattern(pattern);
    if (!translated.isExact) normaliser.markApproximate();
    if (fitsMaskBudget !== undefined)
      checkMaskCost(pattern, { kind: 'regex', text: translated.pattern }, place, fitsMaskBudget);
    return `^${translated.pattern}$`;
  } catch (error) {
    if (error instanceof UntranslatablePattern) return null;
    if (error instanceof SyntaxError) refuse(place, `${error.message.replace(/\.$/, '')}`);
    throw error;
  }
}
