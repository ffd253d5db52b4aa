// JSON Schema -> the subset that llguidance compiles correctly. Keywords outside the subset are dropped and reported, so that
// the caller refuses the schema or checks the finished text. The result is never stricter than the schema, except that
// properties keep their declared order.

import { emptyMap, equalJson, isList, isMap, type JsonMap, type JsonValue, printJson } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';
import { compileEcma } from '../regex/ecma-regex.ts';
import { checkCount, checkNumber, checkSchemas, checkType, refuseLongNumbers } from './check-keywords.ts';
import { sharesBranches } from './closed-objects.ts';
import { collectConjuncts, namesOf } from './conjuncts.ts';
import { provenOneOfs } from './disjoint.ts';
import type { KeywordNormaliser, NormaliseOptions, SchemaPlace } from './keyword-normaliser.ts';
import { isLegacyDraft, readTuple, rewriteExclusiveBounds } from './legacy-drafts.ts';
import { normaliseMultipleOf } from './multiple-of.ts';
import { boundWithin64Bits, roundIntegerBounds } from './number-bounds.ts';
import { normaliseObjectKeywords } from './object-keywords.ts';
import { removeUnproductive } from './remove-unproductive.ts';
import { refuseDynamic, SchemaReferences } from './resolve-ref.ts';
import { normaliseStringKeywords } from './string-keywords.ts';

/** A keyword that the grammar does not enforce, and where it stands (JSON pointer). */
export interface UnenforcedKeyword {
  readonly keyword: string;
  readonly place: string;
}

export interface NormalisedSchema {
  readonly schema: JsonValue;
  /** Not enforced at all. */
  readonly unenforced: readonly UnenforcedKeyword[];
  /** `oneOf` places without a proof that no two branches overlap: enforced only where llguidance finds one. */
  readonly oneOfs: readonly UnenforcedKeyword[];
  /** Enforced except for rare texts (a key written twice, U+007F in a pattern), so the finished text is still worth a look. */
  readonly isApproximate: boolean;
}

const NUMBER_KEYWORDS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']);
const COUNT_KEYWORDS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength']);
/** Checked on the finished text only. */
const UNENFORCED_KEYWORDS = new Set(['not', 'contains', 'unevaluatedProperties', 'unevaluatedItems']);

/** Throws: `invalid_constraint` naming the place of what is malformed, too large, or refers to another document. */
export function normaliseSchema(document: JsonValue, options: NormaliseOptions): NormalisedSchema {
  return new SchemaNormaliser(document, options).run();
}

class SchemaNormaliser implements KeywordNormaliser {
  readonly options: NormaliseOptions;
  readonly #references: SchemaReferences;
  readonly #isLegacy: boolean;
  /** Names of definitions by their schema: alone, and beside other schemas of the same value. */
  readonly #names = { alone: new Map<JsonValue, string>(), shared: new Map<JsonValue, string>() };
  readonly #definitions = emptyMap<JsonValue>();
  readonly #patternValues = new Map<JsonValue, JsonValue>();
  readonly #unenforced: UnenforcedKeyword[] = [];
  /** By their normalised schemas. */
  readonly #oneOfs = new Map<JsonValue, UnenforcedKeyword>();
  #isApproximate = false;
  #valueCount = 0;

  constructor(document: JsonValue, options: NormaliseOptions) {
    this.options = options;
    this.#references = new SchemaReferences(document);
    this.#isLegacy = isLegacyDraft(document);
  }

  run(): NormalisedSchema {
    const { schema, base } = this.#references.root;
    refuseDynamic(schema, '#');
    const root = this.normalise(schema, {
      base,
      place: '#',
      depth: 0,
      isShared: false,
      sharesBranches: false,
      chain: [],
    });
    const definitions = Object.keys(this.#definitions).length > 0 ? { $defs: this.#definitions } : {};
    const whole = isMap(root) ? { ...root, ...definitions } : root;
    const proven = provenOneOfs(whole, this.#oneOfs.keys(), this.#definitions);
    return {
      schema: removeUnproductive(proven.schema),
      unenforced: this.#unenforced,
      oneOfs: [...this.#oneOfs]
        .filter(([branches]) => !proven.oneOfs.has(branches))
        .map(([, place]) => place),
      isApproximate: this.#isApproximate,
    };
  }

  /** The schema at one place, in the subset of llguidance. */
  normalise(schema: JsonValue, at: SchemaPlace): JsonValue {
    if (typeof schema === 'boolean') return schema;
    if (!isMap(schema)) refuse(at.place, 'A schema must be an object or a boolean');
    if (at.depth > this.options.limits.depth)
      refuse(at.place, `The schema is nested deeper than ${this.options.limits.depth} levels`);
    if (at.chain.includes(schema)) refuse(at.place, 'The schema refers to itself without an end');
    const isLegacyReference = this.#isLegacy && typeof schema.$ref === 'string';
    const here = {
      ...at,
      base: this.#references.enter(schema, at.base),
      sharesBranches: at.isShared || (!isLegacyReference && sharesBranches(schema)),
      chain: [...at.chain, schema],
    };
    if (allowsEverything(schema.not)) return false;
    // Drafts up to 7: whatever stands beside a reference is ignored.
    if (isLegacyReference) return { $ref: this.#refer(schema.$ref!, here) };
    const out = emptyMap<JsonValue>();
    const also: JsonValue[] = [];
    const source = readTuple(rewriteExclusiveBounds(schema));
    normaliseObjectKeywords(this, source, here, out, also);
    for (const [keyword, value] of Object.entries(source))
      this.#takeKeyword(keyword, value, source, here, out);
    roundIntegerBounds(out);
    normaliseMultipleOf(this, here, out, also);
    normaliseStringKeywords(this, source, here, out, also);
    if (!this.#takeContains(source, at, out)) return false;
    if (this.options.omitsPatterns === true && at.chain.length === 0) {
      const properties = this.#restrictByPatterns(schema, here);
      if (Object.keys(properties).length > 0) also.push({ properties });
    }
    if (also.length > 0) out.allOf = [...((out.allOf as JsonValue[] | undefined) ?? []), ...also];
    const reference = this.options.omitsBesideReferences === true ? referenceIn(out) : null;
    if (reference !== null) return this.#onlyReference(source, out, here, reference);
    return inOrderOf(source, out);
  }

  descend(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue {
    return this.normalise(schema, {
      base: at.base,
      place: pointer(at.place, ...steps),
      depth: at.depth + 1,
      isShared: false,
      sharesBranches: false,
      chain: [],
    });
  }

  branch(schema: JsonValue, at: SchemaPlace, ...steps: readonly (string | number)[]): JsonValue {
    const place = pointer(at.place, ...steps);
    return this.normalise(schema, { ...at, place, depth: at.depth + 1, isShared: at.sharesBranches });
  }

  follow(schema: JsonValue, { base }: SchemaPlace): JsonValue {
    return this.#references.follow({ schema, base }).schema;
  }

  markUnenforced(keyword: string, at: SchemaPlace): void {
    this.#unenforced.push({ keyword, place: pointer(at.place, keyword) });
  }

  markApproximate(): void {
    this.#isApproximate = true;
  }

  /** Schemas of the declared names by the patterns of all schemas of the value, which are left out. */
  #restrictByPatterns(schema: JsonMap, at: SchemaPlace): JsonMap {
    const properties = emptyMap<JsonValue>();
    const conjuncts = collectConjuncts({ ...at, schema }, this.#references);
    const names = new Set(conjuncts.flatMap(conjunct => namesOf(conjunct.schema)));
    for (const { schema: part, base, place } of conjuncts) {
      if (!isMap(part.patternProperties)) continue;
      for (const [pattern, value] of Object.entries(part.patternProperties)) {
        const matcher = compileEcma(pattern);
        for (const name of names) {
          if (!matcher.test(name)) continue;
          const own = this.#patternValue(value, { ...at, base, place }, pattern);
          properties[name] = Object.hasOwn(properties, name) ? { allOf: [properties[name]!, own] } : own;
        }
      }
    }
    return properties;
  }

  /** Made once, however many schemas refer to it. Inside of itself it says nothing. */
  #patternValue(value: JsonValue, at: SchemaPlace, pattern: string): JsonValue {
    const known = this.#patternValues.get(value);
    if (known !== undefined) return known;
    this.#patternValues.set(value, true);
    const normalised = this.descend(value, at, 'patternProperties', pattern);
    this.#patternValues.set(value, normalised);
    return normalised;
  }

  #takeKeyword(keyword: string, value: JsonValue, source: JsonMap, at: SchemaPlace, out: JsonOut): void {
    const place = pointer(at.place, keyword);
    if (keyword === '$ref') out.$ref = this.#refer(value, at);
    else if (keyword === 'type') out.type = checkType(value, place);
    else if (keyword === 'enum') out.enum = this.#checkEnum(value, place);
    else if (keyword === 'const') out.const = refuseLongNumbers(value, place);
    else if (NUMBER_KEYWORDS.has(keyword)) out[keyword] = this.#takeNumber(keyword, value, place);
    else if (COUNT_KEYWORDS.has(keyword)) out[keyword] = checkCount(value, place);
    else if (keyword === 'items') out.items = this.descend(value, at, keyword);
    else if (keyword === 'prefixItems')
      out.prefixItems = checkSchemas(value, place).map((item, i) => this.descend(item, at, keyword, i));
    else if (keyword === 'allOf' || keyword === 'anyOf' || keyword === 'oneOf') {
      const branches = checkSchemas(value, place);
      if (branches.length === 0) refuse(place, `${keyword} needs at least one schema`);
      const normalised = branches.map((branch, i) => this.branch(branch, at, keyword, i));
      out[keyword] = normalised;
      if (keyword === 'oneOf') this.#oneOfs.set(normalised, { keyword, place });
    } else if (UNENFORCED_KEYWORDS.has(keyword)) this.#markSchemaUnenforced(keyword, value, at);
    else if (keyword === 'if' && (source.then !== undefined || source.else !== undefined))
      this.markUnenforced(keyword, at);
    else if (keyword === 'uniqueItems' && value === true) this.markUnenforced(keyword, at);
    // Every other keyword is an annotation, or belongs to one of those above (`then`, `minContains`).
  }

  #markSchemaUnenforced(keyword: string, value: JsonValue, at: SchemaPlace): void {
    if (typeof value !== 'boolean' && !isMap(value))
      refuse(pointer(at.place, keyword), 'A schema must be an object or a boolean');
    const isVacuous = keyword.startsWith('unevaluated')
      ? value === true
      : keyword === 'not' && value === false;
    if (!isVacuous) this.markUnenforced(keyword, at);
  }

  /** Minimum number of items by `contains`. False: no array fits, because no item may be what `contains` asks for. */
  #takeContains({ contains, minContains = 1 }: JsonMap, at: SchemaPlace, out: JsonOut): boolean {
    if (contains === undefined || typeof minContains !== 'number' || minContains < 1) return true;
    out.minItems = Math.max(Number(out.minItems ?? 0), minContains);
    if (out.type !== 'array' || out.items === undefined || out.prefixItems !== undefined) return true;
    const item = { allOf: [out.items, this.descend(contains, at, 'contains')] };
    // What a reference stands for may not be known yet.
    if (printJson(item).includes('"$ref":')) return true;
    return this.options.isSatisfiable?.(item) ?? true;
  }

  /** The place of a definition in the result, which the target is written to when it is first met. */
  #refer(reference: JsonValue, at: SchemaPlace): string {
    const place = pointer(at.place, '$ref');
    if (typeof reference !== 'string') refuse(place, '$ref must be a string');
    const target = this.#references.resolve(reference, at.base);
    if (target === null)
      refuse(
        place,
        `${JSON.stringify(reference)} points to nothing in the schema; other documents are not read`,
      );
    if (at.chain.includes(target.schema)) refuse(place, 'The schema refers to itself without an end');
    const names = at.sharesBranches ? this.#names.shared : this.#names.alone;
    const known = names.get(target.schema);
    if (known !== undefined && typeof target.schema !== 'boolean') return `#/$defs/${known}`;
    const name = String(Object.keys(this.#definitions).length);
    names.set(target.schema, name);
    this.#definitions[name] = true;
    this.#definitions[name] = this.normalise(target.schema, {
      base: target.base,
      place,
      depth: at.depth + 1,
      isShared: at.sharesBranches,
      sharesBranches: at.sharesBranches,
      chain: at.chain,
    });
    return `#/$defs/${name}`;
  }

  /** Without the keywords beside it; a type that the target has too is none the less enforced. */
  #onlyReference({ $ref }: JsonMap, out: JsonOut, at: SchemaPlace, reference: JsonValue): JsonValue {
    const target = this.#references.resolve(String($ref), at.base)?.schema;
    const isSameType = isMap(target) && out.type !== undefined && equalJson(target.type ?? true, out.type);
    for (const keyword of Object.keys(out))
      if (keyword !== '$ref' && !(keyword === 'type' && isSameType)) this.markUnenforced(keyword, at);
    return { $ref: reference };
  }

  #checkEnum(value: JsonValue, place: string): JsonValue {
    if (!isList(value) || value.length === 0) refuse(place, 'enum must be a list of at least one value');
    this.#valueCount += value.length;
    const { valueCount } = this.options.limits;
    if (this.#valueCount > valueCount)
      refuse(place, `The enums of the schema have more than ${valueCount} values together`);
    return refuseLongNumbers(value, place);
  }

  #takeNumber(keyword: string, value: JsonValue, place: string): JsonValue {
    const number = checkNumber(value, keyword, place);
    if (typeof number === 'bigint') this.#isApproximate = true;
    return boundWithin64Bits(keyword, Number(number));
  }
}

/** The first reference of a schema that says more about the same value; null where there is none. */
function referenceIn(out: JsonOut): JsonValue | null {
  const parts = isList(out.allOf) ? out.allOf : [];
  const references = [out, ...parts].flatMap(part =>
    isMap(part) && part.$ref !== undefined ? [part.$ref] : [],
  );
  const others = Object.keys(out).filter(keyword => keyword !== '$ref' && keyword !== 'allOf');
  const isOnly = others.length === 0 && parts.length + (out.$ref === undefined ? 0 : 1) === 1;
  return isOnly ? null : (references[0] ?? null);
}

/** `true`, and a schema without a keyword. */
function allowsEverything(schema: JsonValue | undefined): boolean {
  return schema === true || (isMap(schema) && Object.keys(schema).length === 0);
}

/** The keywords in the order of the source: llguidance fixes the order of an object's keys by it. */
function inOrderOf(source: JsonMap, out: JsonOut): JsonMap {
  const ordered = emptyMap<JsonValue>();
  for (const keyword of [...Object.keys(source), ...Object.keys(out)])
    if (Object.hasOwn(out, keyword)) ordered[keyword] = out[keyword]!;
  return ordered;
}

type JsonOut = Record<string, JsonValue>;
