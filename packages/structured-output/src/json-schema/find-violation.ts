// JSON Schema evaluator for finished values: every validation keyword of draft 2020-12 and its older spellings. It runs a
// caller's patterns and recursion as written, so it belongs in a worker thread that can be killed.

import { isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer } from '../refuse.ts';
import { compileEcma } from '../regex/ecma-regex.ts';
import { isLegacyDraft, readTuple, rewriteExclusiveBounds } from './legacy-drafts.ts';
import { findObjectViolation } from './object-violation.ts';
import { SchemaReferences } from './resolve-ref.ts';
import { findScalarViolation } from './scalar-violation.ts';
import { addSeen, noneSeen, type PartChecker, type Seen, type Violation } from './violation.ts';

/** Null when the value satisfies the schema, whose shape `normaliseSchema` has checked. */
export function findViolation(document: JsonValue, value: JsonValue): Violation | null {
  return new SchemaChecker(document).check(value);
}

class SchemaChecker implements PartChecker {
  readonly #references: SchemaReferences;
  readonly #isLegacy: boolean;
  readonly #patterns = new Map<string, RegExp>();

  constructor(document: JsonValue) {
    this.#references = new SchemaReferences(document);
    this.#isLegacy = isLegacyDraft(document);
  }

  check(value: JsonValue): Violation | null {
    const { schema, base } = this.#references.root;
    return this.find(schema, value, base, '#', noneSeen());
  }

  find(schema: JsonValue, value: JsonValue, base: string, place: string, seen: Seen): Violation | null {
    if (typeof schema === 'boolean') return schema ? null : { keyword: 'false', place };
    if (!isMap(schema)) return null;
    const inner = this.#references.enter(schema, base);
    if (this.#isLegacy && typeof schema.$ref === 'string')
      return this.#followRef(schema.$ref, value, inner, place, seen);
    const source = readTuple(rewriteExclusiveBounds(schema));
    const mine = noneSeen();
    const violation =
      findScalarViolation(source, value, place, this) ??
      (typeof source.$ref === 'string' ? this.#followRef(source.$ref, value, inner, place, mine) : null) ??
      this.#findInBranches(source, value, inner, place, mine) ??
      (isMap(value) ? findObjectViolation(this, source, value, inner, place, mine) : null) ??
      (isList(value) ? this.#findInList(source, value, inner, place, mine) : null);
    if (violation === null) addSeen(seen, mine);
    return violation;
  }

  matches(pattern: string, text: string): boolean {
    let compiled = this.#patterns.get(pattern);
    if (compiled === undefined) {
      compiled = compileEcma(pattern);
      this.#patterns.set(pattern, compiled);
    }
    return compiled.test(text);
  }

  satisfies(schema: JsonValue, value: JsonValue, base: string, seen: Seen = noneSeen()): boolean {
    return this.find(schema, value, base, '#', seen) === null;
  }

  #followRef(reference: string, value: JsonValue, base: string, place: string, seen: Seen): Violation | null {
    const target = this.#references.resolve(reference, base);
    return target === null
      ? { keyword: '$ref', place }
      : this.find(target.schema, value, target.base, place, seen);
  }

  #findInBranches(
    source: JsonMap,
    value: JsonValue,
    base: string,
    place: string,
    seen: Seen,
  ): Violation | null {
    for (const schema of listOf(source.allOf)) {
      const violation = this.find(schema, value, base, place, seen);
      if (violation !== null) return violation;
    }
    // Every branch counts, even past the first that fits: each one looks at names and items.
    const countFitting = (branches: readonly JsonValue[]) =>
      branches.filter(schema => this.satisfies(schema, value, base, seen)).length;
    if (source.anyOf !== undefined && countFitting(listOf(source.anyOf)) === 0)
      return { keyword: 'anyOf', place };
    if (source.oneOf !== undefined && countFitting(listOf(source.oneOf)) !== 1)
      return { keyword: 'oneOf', place };
    if (source.not !== undefined && this.satisfies(source.not, value, base)) return { keyword: 'not', place };
    if (source.if === undefined) return null;
    const branch = this.satisfies(source.if, value, base, seen) ? source.then : source.else;
    return branch === undefined ? null : this.find(branch, value, base, place, seen);
  }

  #findInList(
    source: JsonMap,
    value: readonly JsonValue[],
    base: string,
    place: string,
    seen: Seen,
  ): Violation | null {
    const prefix = listOf(source.prefixItems);
    for (const [i, item] of value.entries()) {
      const schema = i < prefix.length ? prefix[i] : source.items;
      if (schema === undefined) continue;
      const violation = this.find(schema, item, base, pointer(place, i), noneSeen());
      if (violation !== null) return violation;
      seen.items.add(i);
    }
    const { contains, unevaluatedItems } = source;
    if (contains !== undefined) {
      const fitting = value.flatMap((item, i) => (this.satisfies(contains, item, base) ? [i] : []));
      for (const i of fitting) seen.items.add(i);
      if (fitting.length < Number(source.minContains ?? 1)) return { keyword: 'contains', place };
      if (fitting.length > Number(source.maxContains ?? Infinity)) return { keyword: 'maxContains', place };
    }
    if (unevaluatedItems === undefined) return null;
    for (const [i, item] of value.entries()) {
      if (seen.items.has(i)) continue;
      if (!this.satisfies(unevaluatedItems, item, base))
        return { keyword: 'unevaluatedItems', place: pointer(place, i) };
      seen.items.add(i);
    }
    return null;
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}
