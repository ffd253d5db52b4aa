// The keywords about objects, checked on a value. Called by find-violation.ts.

import { isList, isMap, type JsonMap } from '@ortler/json';
import { pointer } from '../refuse.ts';
import { readDependencies } from './legacy-drafts.ts';
import { noneSeen, type PartChecker, type Seen, type Violation } from './violation.ts';

/** Mutates: `seen`. */
export function findObjectViolation(
  checker: PartChecker,
  source: JsonMap,
  value: JsonMap,
  base: string,
  place: string,
  seen: Seen,
): Violation | null {
  const names = Object.keys(value);
  const lacks = (needed: unknown) =>
    isList(needed) && needed.some(name => !Object.hasOwn(value, String(name)));
  if (lacks(source.required)) return { keyword: 'required', place };
  if (names.length < Number(source.minProperties ?? 0)) return { keyword: 'minProperties', place };
  if (names.length > Number(source.maxProperties ?? Infinity)) return { keyword: 'maxProperties', place };
  const { propertyNames, additionalProperties, unevaluatedProperties } = source;
  const properties = isMap(source.properties) ? source.properties : {};
  const patterns = isMap(source.patternProperties) ? Object.entries(source.patternProperties) : [];
  for (const name of names) {
    if (propertyNames !== undefined && !checker.satisfies(propertyNames, name, base))
      return { keyword: 'propertyNames', place: pointer(place, name) };
    const schemas = patterns
      .filter(([pattern]) => checker.matches(pattern, name))
      .map(([, schema]) => schema);
    if (Object.hasOwn(properties, name)) schemas.push(properties[name]!);
    if (schemas.length === 0 && additionalProperties !== undefined) schemas.push(additionalProperties);
    for (const schema of schemas) {
      const violation = checker.find(schema, value[name]!, base, pointer(place, name), noneSeen());
      if (violation !== null) return violation;
      seen.names.add(name);
    }
  }
  const { required, schemas } = readDependencies(source);
  for (const [name, needed] of required)
    if (Object.hasOwn(value, name) && lacks(needed)) return { keyword: 'dependentRequired', place };
  for (const [name, schema] of schemas) {
    if (!Object.hasOwn(value, name)) continue;
    const violation = checker.find(schema, value, base, place, seen);
    if (violation !== null) return violation;
  }
  if (unevaluatedProperties === undefined) return null;
  for (const name of names) {
    if (seen.names.has(name)) continue;
    if (!checker.satisfies(unevaluatedProperties, value[name]!, base))
      return { keyword: 'unevaluatedProperties', place: pointer(place, name) };
    seen.names.add(name);
  }
  return null;
}
