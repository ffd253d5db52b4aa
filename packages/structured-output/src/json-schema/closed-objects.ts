// Closing of objects that say nothing of additional properties. A schema closes its object only where it alone declares the
// properties: of two closed parts of an `allOf`, each would forbid the properties of the other.

import { isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';

/** Whether other schemas than this one declare properties of the same value as well. */
export function declaresInBranches(schema: JsonMap): boolean {
  return countDeclaringParts(schema) > 0;
}

/** Whether a branch of the schema stands beside another part that declares properties. */
export function sharesBranches(schema: JsonMap): boolean {
  return declaresItself(schema) || countDeclaringParts(schema) > 1;
}

function declaresItself({ properties, patternProperties, required }: JsonMap): boolean {
  return properties !== undefined || patternProperties !== undefined || required !== undefined;
}

/** Alternatives count once, because a value needs only one of them. */
function countDeclaringParts(schema: JsonMap): number {
  const { $ref, allOf, anyOf, oneOf, then, else: otherwise, dependentSchemas, dependencies } = schema;
  const parts = isList(allOf) ? [...allOf] : [];
  if (isMap(dependentSchemas)) parts.push(...Object.values(dependentSchemas));
  if (isMap(dependencies)) parts.push(...Object.values(dependencies));
  const alternatives = [anyOf, oneOf, [then ?? true, otherwise ?? true]];
  return (
    (typeof $ref === 'string' ? 1 : 0) +
    parts.filter(mayDeclare).length +
    alternatives.filter(branches => isList(branches) && branches.some(mayDeclare)).length
  );
}

function mayDeclare(schema: JsonValue): boolean {
  if (!isMap(schema)) return false;
  return (
    schema.properties !== undefined || schema.patternProperties !== undefined || declaresInBranches(schema)
  );
}
