// Settings that were left out must be absent in a request of the engine, where callers of the AI SDK may write undefined.

type DefinedValues<Values> = {
  readonly [Name in keyof Values]?: Exclude<Values[Name], undefined>;
};

/** The values that are not undefined. */
export function definedValues<Values extends object>(values: Values): DefinedValues<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as DefinedValues<Values>;
}
