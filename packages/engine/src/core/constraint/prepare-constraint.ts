// The front end: what a request asks for -> a grammar that llguidance compiles, and what is left to check at the end.
// It runs callers' patterns and compiles callers' grammars, so it runs in a worker that can be killed.

import type {
  AmbiguousPatterns,
  ConstraintLimits,
  ConstraintSpec,
  JsonStyle,
} from '../../request/constraint-spec.ts';
import type { SpecialToken } from '../../request/token-vocabulary.ts';
import { refuseAmbiguous, refuseAmbiguousSchema } from './ambiguity/refuse-ambiguous.ts';
import { checkLark, larkPatterns } from './check-lark.ts';
import { checkFollowable, checkRegex } from './check-regex.ts';
import { choiceToLark } from './choice-to-lark.ts';
import { type Grammar, GrammarRefused, MatcherFailed } from './constraint.ts';
import { ebnfToLark, ebnfToRules } from './ebnf/ebnf-to-lark.ts';
import { isList, isMap, type JsonValue, parseJson, printJson } from './json-schema/json-value.ts';
import { type NormalisedSchema, normaliseSchema } from './json-schema/normalise-schema.ts';
import { boundsWhitespace, type JsonExtent, toGuidance } from './json-style.ts';
import { refuse } from './refuse.ts';
import { parseTag } from './structural-tag/parse-tag.ts';
import { tagToLark } from './structural-tag/tag-to-lark.ts';

export interface PreparedConstraint {
  readonly grammar: Grammar;
  /** JSON Schema, as text, that a finished text must still be checked against; null when the grammar says it all. */
  readonly check: string | null;
}

export interface FrontEndOptions {
  readonly limits: ConstraintLimits;
  readonly ambiguousPatterns: AmbiguousPatterns;
  readonly specialTokens: readonly SpecialToken[];
  /** Compiles for trial. Throws: `GrammarRefused`, `MatcherFailed`. */
  readonly tryCompile: (grammar: Grammar) => void;
  /** False when short texts already lead to a mask that costs too much. Throws: `GrammarRefused`. */
  readonly canFollow: (grammar: Grammar) => boolean;
}

/** Throws: `invalid_request` saying what is wrong with the constraint, and where. */
export function prepareConstraint(spec: ConstraintSpec, options: FrontEndOptions): PreparedConstraint {
  const { limits } = options;
  switch (spec.kind) {
    case 'json-schema':
      return prepareSchema(readDocument(spec.schema, limits), spec.style, spec.strict ?? false, options);
    case 'json-object':
      return prepareSchema({ type: 'object' }, spec.style, true, options);
    case 'regex':
      return prepareRegex(spec.pattern, options);
    case 'choice':
      checkSize(spec.choices.join('\n'), limits);
      return compiled({ kind: 'lark', text: choiceToLark(spec.choices, limits) }, options);
    case 'grammar':
      return prepareGrammar(spec.text, options);
    case 'structural-tag':
      return prepareTag(spec.tag, spec.style, options);
  }
}

function prepareRegex(pattern: string, options: FrontEndOptions): PreparedConstraint {
  const grammar: Grammar = { kind: 'regex', text: checkRegex(pattern, options.limits) };
  const prepared = followable(pattern, grammar, 'regex', options);
  if (options.ambiguousPatterns === 'refuse') refuseAmbiguous(pattern, 'regex', 'rust', 'whole');
  return prepared;
}

function prepareGrammar(text: string, options: FrontEndOptions): PreparedConstraint {
  const { limits, ambiguousPatterns } = options;
  checkSize(text, limits);
  const grammar: Grammar = { kind: 'lark', text: grammarToLark(text, limits) };
  const prepared = followable(text, grammar, 'grammar', options);
  // A terminal of Lark is matched at the start of what is left of a text. Rules of EBNF are no business of a regex matcher.
  if (ambiguousPatterns === 'refuse' && !isEbnf(text))
    for (const pattern of larkPatterns(text)) refuseAmbiguous(pattern, 'grammar', 'rust', 'search');
  return prepared;
}

function prepareSchema(
  document: JsonValue,
  style: JsonStyle | undefined,
  isStrict: boolean,
  options: FrontEndOptions,
): PreparedConstraint {
  const { limits, canFollow } = options;
  const normaliseOptions = { closeObjects: style?.closeObjects ?? false, limits, canFollow };
  const whole = normaliseSchema(document, normaliseOptions);
  const normalised = hasOverlappingPatterns(whole, options)
    ? normaliseSchema(document, { ...normaliseOptions, leavesOutPatterns: true })
    : whole;
  if (isStrict) refuseUnenforced(normalised);
  if (options.ambiguousPatterns === 'refuse') refuseAmbiguousSchema(document, limits);
  const { grammar, isExact } = compileSchema(normalised, style, isStrict, options);
  const check = isExact && normalised.unenforced.length === 0 && !normalised.isApproximate;
  return { grammar, check: check ? null : printJson(document) };
}

/** llguidance compiles several `patternProperties` only where no name matches two of them. */
function hasOverlappingPatterns({ schema }: NormalisedSchema, { tryCompile }: FrontEndOptions): boolean {
  const text = printJson(withStyle(schema, undefined, true, 'whole'));
  if (!text.includes('"patternProperties":')) return false;
  try {
    tryCompile({ kind: 'json_schema', text });
    return false;
  } catch (error) {
    return error instanceof GrammarRefused && error.message.includes('not disjoint');
  }
}

/** `oneOf` as it is where llguidance proves its branches apart; otherwise as `anyOf`, which is then to be checked. */
function compileSchema(
  normalised: NormalisedSchema,
  style: JsonStyle | undefined,
  isStrict: boolean,
  options: FrontEndOptions,
): { readonly grammar: Grammar; readonly isExact: boolean } {
  const write = (coercesOneOf: boolean): Grammar => ({
    kind: 'json_schema',
    text: printJson(withStyle(normalised.schema, style, coercesOneOf, 'whole')),
    ...(boundsWhitespace(style, 'whole') && { boundsWhitespace: true }),
  });
  const exact = write(false);
  if (normalised.oneOfs.length === 0) return { grammar: compiled(exact, options).grammar, isExact: true };
  try {
    options.tryCompile(exact);
    return { grammar: exact, isExact: true };
  } catch (error) {
    if (!(error instanceof GrammarRefused)) throw toRequestError(error);
  }
  const coerced = compiled(write(true), options);
  if (isStrict) {
    const { place } = normalised.oneOfs[0]!;
    refuse(
      place,
      'oneOf is enforced only where no value fits two of its schemas, which is not certain here; use anyOf',
    );
  }
  return { grammar: coerced.grammar, isExact: false };
}

function withStyle(
  schema: JsonValue,
  style: JsonStyle | undefined,
  coercesOneOf: boolean,
  extent: JsonExtent,
): JsonValue {
  const guidance = toGuidance(style, coercesOneOf, extent);
  if (Object.keys(guidance).length === 0) return schema;
  const open = isMap(schema) ? schema : schema === false ? { not: {} } : {};
  return { 'x-guidance': guidance, ...open };
}

function prepareTag(
  tag: unknown,
  style: JsonStyle | undefined,
  options: FrontEndOptions,
): PreparedConstraint {
  const { limits, ambiguousPatterns, specialTokens, canFollow } = options;
  if (typeof tag === 'string') checkSize(tag, limits);
  else checkDocument(tag as JsonValue, limits);
  const text = tagToLark(parseTag(tag, limits), specialTokens, {
    toJson: (schema, place) => {
      const normalised = normaliseSchema(schema, {
        closeObjects: style?.closeObjects ?? false,
        limits,
        canFollow,
      });
      refuseUnenforced(normalised, place);
      if (ambiguousPatterns === 'refuse') refuseAmbiguousSchema(schema, limits, place);
      return withStyle(normalised.schema, style, false, 'part');
    },
    toRegex: (pattern, place) => {
      const text = checkRegex(pattern, limits);
      checkFollowable(pattern, { kind: 'regex', text }, 'regex', canFollow);
      if (ambiguousPatterns === 'refuse') refuseAmbiguous(pattern, place, 'rust', 'whole');
      return text;
    },
    toRules: (grammar, prefix, place) => {
      if (!isEbnf(grammar)) refuse(place, 'A grammar inside a structural tag must be EBNF');
      return ebnfToRules(grammar, limits, prefix);
    },
  });
  return compiled({ kind: 'lark', text }, options);
}

function grammarToLark(text: string, limits: ConstraintLimits): string {
  if (text.trim() === '') refuse('grammar', 'The grammar is empty');
  return isEbnf(text) ? ebnfToLark(text, limits) : checkLark(text, limits);
}

function isEbnf(text: string): boolean {
  return text.includes('::=');
}

function readDocument(schema: unknown, limits: ConstraintLimits): JsonValue {
  let document = schema as JsonValue;
  if (typeof schema === 'string') {
    checkSize(schema, limits);
    try {
      document = parseJson(schema);
    } catch (error) {
      refuse('json', `The JSON Schema is not JSON: ${(error as Error).message}`);
    }
  }
  checkDocument(document, limits);
  if (!isMap(document) && typeof document !== 'boolean')
    refuse('#', 'A JSON Schema must be an object or a boolean');
  return document;
}

/** Walks without recursion, as a document of any depth arrives here. */
function checkDocument(document: JsonValue, limits: ConstraintLimits): void {
  // A schema may hold lists and objects of values, which nest too.
  const most = limits.depth * 2;
  let level: JsonValue[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) refuse('#', `The constraint is nested deeper than ${most} levels`);
    level = level.flatMap(value => (isList(value) ? value : isMap(value) ? Object.values(value) : []));
  }
  checkSize(printJson(document), limits);
}

function checkSize(text: string, limits: ConstraintLimits): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.sourceBytes)
    refuse('', `The constraint has ${bytes} bytes; ${limits.sourceBytes} are allowed`);
  if (text.includes('\0')) refuse('', 'The constraint contains the character U+0000');
  if (!text.isWellFormed()) refuse('', 'The constraint contains half a character (a single surrogate)');
}

function refuseUnenforced({ unenforced }: NormalisedSchema, within = ''): void {
  const first = unenforced[0];
  if (first === undefined) return;
  const place = within === '' ? first.place : within + first.place.slice(1);
  refuse(place, `The keyword ${first.keyword} cannot be enforced while the text is generated`);
}

/** `source` is what the caller wrote. */
function followable(
  source: string,
  grammar: Grammar,
  place: string,
  options: FrontEndOptions,
): PreparedConstraint {
  const prepared = compiled(grammar, options, place);
  checkFollowable(source, grammar, place, options.canFollow);
  return prepared;
}

function compiled(grammar: Grammar, { tryCompile }: FrontEndOptions, place = ''): PreparedConstraint {
  try {
    tryCompile(grammar);
  } catch (error) {
    throw toRequestError(error, place);
  }
  return { grammar, check: null };
}

function toRequestError(error: unknown, place = ''): unknown {
  if (!(error instanceof GrammarRefused) && !(error instanceof MatcherFailed)) return error;
  const message = error.message.replaceAll('<non-verbose/>', '').trim().slice(0, 1000).replace(/\.$/, '');
  try {
    refuse(place, `The constraint cannot be compiled: ${message}`);
  } catch (refusal) {
    return refusal;
  }
}
