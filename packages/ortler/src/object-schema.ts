// The schema of an object: JSON Schema for the grammar that the answer is held to, and validation for its type. Schemas of Zod,
// ArkType and, by a function of its own, Valibot state both through Standard Schema, so none of them is a dependency.

import { EngineError } from '@ortler/engine';

/** A schema in JSON Schema (draft 2020-12); the object is then `unknown` to the compiler. */
export type JsonSchema = { readonly [keyword: string]: unknown };

type Issue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};
type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** A schema of a library that implements Standard Schema and Standard JSON Schema. Source: https://standardschema.dev */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => JsonSchema };
    readonly types?: { readonly output: Output } | undefined;
  };
}

export type ObjectSchema<Output> = StandardSchema<Output> | JsonSchema;

/**
 * The schema of what the model writes: before defaults and transformations.
 * Throws: `invalid_request` for a schema that has no JSON Schema.
 */
export function toJsonSchema(schema: ObjectSchema<unknown>): JsonSchema {
  // ArkType's schemas are functions.
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function'))
    throw wrongSchema(`The first argument must be a schema; got ${String(schema)}.`);
  if (!isStandard(schema)) return schema;
  const { vendor, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) {
    const hint = vendor === 'valibot' ? ': use toStandardJsonSchema of @valibot/to-json-schema' : '';
    throw wrongSchema(`This schema of ${vendor} has no JSON Schema (Standard JSON Schema)${hint}.`);
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw wrongSchema(`This schema of ${vendor} has no JSON Schema: ${problem}`, cause);
  }
}

function wrongSchema(message: string, cause?: unknown): EngineError {
  return new EngineError('invalid_request', message, { parameter: 'schema', cause });
}

/** The object as the schema gives it, or what is wrong with it. Of a plain JSON Schema the grammar has said all. */
export async function validate<Output>(
  schema: ObjectSchema<Output>,
  value: unknown,
): Promise<
  { readonly kind: 'valid'; readonly value: Output } | { readonly kind: 'invalid'; readonly problem: string }
> {
  if (!isStandard(schema)) return { kind: 'valid', value: value as Output };
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { kind: 'valid', value: result.value };
  return { kind: 'invalid', problem: result.issues.map(describeIssue).join('; ') };
}

function isStandard<Output>(schema: ObjectSchema<Output>): schema is StandardSchema<Output> {
  return '~standard' in schema;
}

function describeIssue({ message, path = [] }: Issue): string {
  const keys = path.map(step => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? message : `${message} (at ${keys.join('.')})`;
}
