// `responseFormat` and `providerOptions.ortler.constraint` -> the one constraint of a request.

import { InvalidArgumentError, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ConstraintSpec, JsonStyle } from '@ortler/engine';
import { definedValues } from './defined-values.ts';
import type { OrtlerProviderOptions } from './provider-options.ts';

/** Undefined for plain text. Throws: `InvalidArgumentError` for two constraints. */
export function toConstraint(
  format: LanguageModelV4CallOptions['responseFormat'],
  { constraint, jsonStyle, strictJsonSchema }: OrtlerProviderOptions,
): ConstraintSpec | undefined {
  const isJson = format?.type === 'json';
  if (!isJson) {
    refuseWithoutJson('jsonStyle', jsonStyle);
    refuseWithoutJson('strictJsonSchema', strictJsonSchema);
    return constraint;
  }
  if (constraint !== undefined)
    throw invalid('constraint', 'cannot be combined with a JSON response format, which is a constraint too');
  const style: JsonStyle | undefined = jsonStyle && definedValues(jsonStyle);
  return format.schema === undefined
    ? { jsonObject: true, ...definedValues({ style }) }
    : { jsonSchema: format.schema, ...definedValues({ style, strict: strictJsonSchema }) };
}

function refuseWithoutJson(option: 'jsonStyle' | 'strictJsonSchema', value: unknown): void {
  if (value !== undefined) throw invalid(option, 'needs a JSON response format');
}

function invalid(option: string, problem: string): InvalidArgumentError {
  const argument = `providerOptions.ortler.${option}`;
  return new InvalidArgumentError({ argument, message: `${argument} ${problem}.` });
}
