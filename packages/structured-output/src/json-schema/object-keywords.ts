// Keywords about objects. Property names and dependencies are rewritten to equivalent alternatives where there are any.

import { emptyMap, isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';
import { compileEcma } from '../regex/ecma-regex.ts';
import { checkCount } from './check-keywords.ts';
import { declaresInBranches } from './closed-objects.ts';
import { STRING_FORMATS } from './formats.ts';
import type { KeywordNormaliser, SchemaPlace } from './keyword-normaliser.ts';
import { readDependencies } from './legacy-drafts.ts';
import { translatePattern } from './string-keywords.ts';

/** Each dependency doubles the alternatives of an object. */
const MAX_DEPENDENCIES = 4;
/** `minProperties: 1` becomes one alternative for each property. */
const MAX_ALTERNATIVES = 32;

/** Mutates: `out`, and `also`, schemas that hold as well. */
export function normaliseObjectKeywords(
  normaliser: KeywordNormaliser,
  source: JsonMap,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
  also: JsonValue[],
): void {
  const required = readRequired(source.required, at);
  if (required.length > 0) out.required = required;
  const properties = readMap(source.properties, at, 'properties');
  if (properties !== null) {
    const normalised = emptyMap<JsonValue>();
    for (const [name, schema] of Object.entries(properties))
      normalised[name] = normaliser.descend(schema, at, 'properties', name);
    out.properties = normalised;
  }
  takeOpenProperties(normaliser, source, at, out);
  takeCounts(normaliser, source, at, out, also, required);
  takeDependencies(normaliser, source, at, also);
}

/** `patternProperties`, `additionalProperties` and `propertyNames`: what properties beyond the declared ones may be. */
function takeOpenProperties(
  normaliser: KeywordNormaliser,
  source: JsonMap,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
): void {
  const { additionalProperties } = source;
  const propertyNames = readNames(normaliser, source.propertyNames, at);
  const patterns = readMap(source.patternProperties, at, 'patternProperties');
  const isClosed =
    additionalProperties === undefined &&
    (out.properties !== undefined || patterns !== null) &&
    normaliser.options.closeObjects &&
    mayClose(source, at);
  if (isClosed) declareRequired(out);
  const additional =
    additionalProperties === undefined
      ? !isClosed
      : normaliser.descend(additionalProperties, at, 'additionalProperties');
  const isExplicit = additionalProperties !== undefined || additional === false;
  if (patterns !== null) {
    // llguidance does not hold the properties of a pattern to the `additionalProperties` of other schemas of the value.
    if (at.chain.length > 1 || hasBranches(source)) normaliser.markApproximate();
    declareMatched(out, Object.keys(patterns));
    const hasOthers = Object.keys(patterns).length > 1 || at.isShared || at.sharesBranches;
    if (normaliser.options.omitsPatterns === true && hasOthers) {
      normaliser.markUnenforced('patternProperties', at);
      return;
    }
    const normalised = emptyMap<JsonValue>();
    for (const [pattern, schema] of Object.entries(patterns)) {
      const place = pointer(at.place, 'patternProperties', pattern);
      const translated = translatePattern(pattern, place, normaliser);
      if (translated === null) {
        // Without this pattern nothing is known about undeclared properties.
        normaliser.markUnenforced('patternProperties', at);
        return;
      }
      const value = normaliser.descend(schema, at, 'patternProperties', pattern);
      const matched = restrictDeclared(normaliser, at, out, pattern, value);
      if (hasOtherNames(normaliser, translated, matched)) normalised[translated] = value;
    }
    if (Object.keys(normalised).length > 0) out.patternProperties = normalised;
    if (isExplicit) out.additionalProperties = additional;
    if (propertyNames !== undefined) normaliser.markUnenforced('propertyNames', at);
    return;
  }
  const names = propertyNames === undefined ? null : namePattern(propertyNames);
  if (names === null) {
    if (isExplicit) out.additionalProperties = additional;
    if (propertyNames !== undefined) normaliser.markUnenforced('propertyNames', at);
    return;
  }
  const translated = translatePattern(names, pointer(at.place, 'propertyNames'), normaliser);
  if (translated === null || out.properties !== undefined) {
    if (isExplicit) out.additionalProperties = additional;
    normaliser.markUnenforced('propertyNames', at);
    return;
  }
  const listed = isMap(propertyNames) ? nameList(propertyNames) : null;
  if (listed !== null && mayDeclare(listed, source)) declare(out, listed);
  declareMatched(out, [names]);
  const matched = restrictDeclared(normaliser, at, out, names, additional);
  if (hasOtherNames(normaliser, translated, matched)) out.patternProperties = { [translated]: additional };
  out.additionalProperties = false;
}

const BRANCH_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies'];

const hasBranches = (source: JsonMap) => BRANCH_KEYWORDS.some(keyword => source[keyword] !== undefined);

/** Required properties that a pattern matches become declared ones. Mutates: `out`. */
function declareMatched(out: Record<string, JsonValue>, patterns: readonly string[]): void {
  const matchers = patterns.map(compileEcma);
  const names = ((out.required ?? []) as readonly string[]).filter(name =>
    matchers.some(matcher => matcher.test(name)),
  );
  if (names.length > 0) declare(out, names);
}

/** llguidance would allow a comma where no further name matches, and then nothing. */
function hasOtherNames(
  { options }: KeywordNormaliser,
  pattern: string,
  declared: readonly string[],
): boolean {
  return declared.length === 0 || (options.matchesOthers?.(pattern, declared) ?? true);
}

/** Whether closing the object leaves values of it. */
function mayClose(source: JsonMap, at: SchemaPlace): boolean {
  if (at.isShared || declaresInBranches(source)) return false;
  const { properties, required, patternProperties, minProperties } = source;
  const names = new Set([...Object.keys(isMap(properties) ? properties : {}), ...readRequired(required, at)]);
  return patternProperties !== undefined || typeof minProperties !== 'number' || minProperties <= names.size;
}

/** A closed object still has the properties that it requires without declaring them. Mutates: `out`. */
function declareRequired(out: Record<string, JsonValue>): void {
  declare(out, (out.required ?? []) as readonly string[]);
}

function declare(out: Record<string, JsonValue>, names: readonly string[]): void {
  out.properties ??= emptyMap<JsonValue>();
  const properties = out.properties as Record<string, JsonValue>;
  for (const name of names) if (!Object.hasOwn(properties, name)) properties[name] = true;
}

/**
 * A declared property must fit every pattern that its name matches too; llguidance reads its own schema only.
 * Mutates: `out`. Returns the names that match.
 */
function restrictDeclared(
  normaliser: KeywordNormaliser,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
  pattern: string,
  value: JsonValue,
): readonly string[] {
  const properties = (out.properties ?? {}) as Record<string, JsonValue>;
  const matcher = compileEcma(pattern);
  const matched = Object.keys(properties).filter(name => matcher.test(name));
  for (const name of matched) {
    const own = properties[name]!;
    const hasReference = [own, value].some(schema => isMap(schema) && schema.$ref !== undefined);
    if (own === true) properties[name] = value;
    else if (hasReference && normaliser.options.omitsBesideReferences === true)
      normaliser.markUnenforced('patternProperties', at);
    else properties[name] = { allOf: [own, value] };
  }
  return matched;
}

/** The schema of names; undefined where every name fits it, because names are strings. */
function readNames(
  normaliser: KeywordNormaliser,
  propertyNames: JsonValue | undefined,
  at: SchemaPlace,
): JsonValue | undefined {
  if (propertyNames === undefined) return undefined;
  const schema = normaliser.follow(propertyNames, at);
  if (!isMap(schema)) return schema === true ? undefined : schema;
  const { type = 'string', title: _, description: __, ...rest } = schema;
  const isAny = Object.keys(rest).length === 0 && [type].flat().includes('string');
  return isAny ? undefined : schema;
}

/** A pattern for the names that a simple schema allows; null for other schemas. */
function namePattern(schema: JsonValue): string | null {
  if (!isMap(schema)) return null;
  const { type, title: _, description: __, ...rest } = schema;
  const keywords = Object.keys(rest);
  if ((type !== undefined && type !== 'string') || keywords.length !== 1) return null;
  const value = rest[keywords[0]!]!;
  if (keywords[0] === 'pattern' && typeof value === 'string') return value;
  if (keywords[0] === 'format' && typeof value === 'string') {
    const format = STRING_FORMATS.get(value);
    return format === undefined || format.maxLength !== undefined
      ? null
      : (format.generated ?? format.pattern);
  }
  const list = nameList(rest);
  return list === null
    ? null
    : `^(?:${list.map(name => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`;
}

function nameList({ enum: values, const: value }: JsonMap): readonly string[] | null {
  const list = isList(values) ? values : value === undefined ? null : [value];
  return list?.every(name => typeof name === 'string') ? (list as readonly string[]) : null;
}

/** Names that are declared come once each; those of a pattern may come again, which a small model does without an end. */
function mayDeclare(names: readonly string[], { minProperties = 0, maxProperties }: JsonMap): boolean {
  const hasRoom = maxProperties === undefined || Number(maxProperties) >= names.length;
  return names.length <= MAX_ALTERNATIVES && hasRoom && Number(minProperties) <= 1;
}

function takeCounts(
  normaliser: KeywordNormaliser,
  source: JsonMap,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
  also: JsonValue[],
  required: readonly string[],
): void {
  const names = Object.keys((out.properties as JsonMap | undefined) ?? {});
  const isClosed = out.additionalProperties === false && out.patternProperties === undefined;
  const allRequired = names.every(name => required.includes(name));
  const most = readCount(source.maxProperties, at, 'maxProperties');
  const least = readCount(source.minProperties, at, 'minProperties') ?? 0;
  if (normaliser.options.omitsCounts === true) {
    if (most !== null) normaliser.markUnenforced('maxProperties', at);
    if (least > required.length) normaliser.markUnenforced('minProperties', at);
    return;
  }
  if (most !== null && !(isClosed && names.length <= most)) {
    if (allRequired) out.maxProperties = most;
    else normaliser.markUnenforced('maxProperties', at);
  }
  if (least <= required.length) return;
  if (allRequired) {
    out.minProperties = least;
    // A key beyond the declared ones can be written twice, and then counts once.
    if (least > required.length + 1) normaliser.markApproximate();
  } else if (least === 1 && isClosed && names.length <= MAX_ALTERNATIVES) {
    also.push({ anyOf: names.map(name => ({ required: [name] })) });
  } else normaliser.markUnenforced('minProperties', at);
}

/** "When `a` is there, so is ..." -> either `a` is not there, or all of it is. */
function takeDependencies(
  normaliser: KeywordNormaliser,
  source: JsonMap,
  at: SchemaPlace,
  also: JsonValue[],
): void {
  const { required, schemas } = readDependencies(source);
  if (required.length + schemas.length > MAX_DEPENDENCIES) {
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies'])
      if (source[keyword] !== undefined) normaliser.markUnenforced(keyword, at);
    return;
  }
  const without = (name: string): JsonValue => ({ properties: { [name]: false } });
  for (const [name, needed] of required) {
    const names = readRequired(needed, at);
    also.push({ anyOf: [without(name), { required: [name, ...names] }] });
  }
  for (const [name, schema] of schemas) {
    const branch = normaliser.branch(schema, at, 'dependentSchemas', name);
    also.push({ anyOf: [without(name), { allOf: [{ required: [name] }, branch] }] });
  }
}

function readRequired(value: JsonValue | undefined, at: SchemaPlace): readonly string[] {
  // Draft 3 wrote `required: true` inside the property.
  if (value === undefined || typeof value === 'boolean') return [];
  if (!isList(value) || !value.every(name => typeof name === 'string'))
    refuse(pointer(at.place, 'required'), 'A list of property names was expected');
  return [...new Set(value as readonly string[])];
}

function readMap(value: JsonValue | undefined, at: SchemaPlace, keyword: string): JsonMap | null {
  if (value === undefined) return null;
  if (!isMap(value)) refuse(pointer(at.place, keyword), `${keyword} must be an object of schemas`);
  return value;
}

function readCount(value: JsonValue | undefined, at: SchemaPlace, keyword: string): number | null {
  return value === undefined ? null : checkCount(value, pointer(at.place, keyword));
}
