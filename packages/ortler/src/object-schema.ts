// The schema of an object: JSON Schema for the grammar that the answer is held to, and validation for its type. Zod, Valibot and
// ArkType schemas state both through Standard Schema, so none of them is a dependency.

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

/** The schema of what the model writes: before defaults and transformations. */
export function toJsonSchema(schema: ObjectSchema<unknown>): JsonSchema {
  return isStandard(schema) ? schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) : schema;
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
