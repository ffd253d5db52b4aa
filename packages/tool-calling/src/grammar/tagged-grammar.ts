// The grammar of arguments between tags: strings as they are, other values as JSON.

import type { TagNode } from '@ortler/structured-output';
import type { ArgumentsForm } from '../tool-dialect.ts';
import { isSchema, typesOf } from '../value-kinds.ts';
import { choice, json, optional, regex, repeated, sequence, text, textValue } from './nodes.ts';
import { checkKeywords, openSchema, propertiesOf, type SchemaPart } from './schema-part.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

type TaggedForm = Extract<ArgumentsForm, { readonly kind: 'tagged' }>;

/** Names of arguments where the schema names none. */
const ANY_NAME = '[A-Za-z0-9_.-]{1,64}';

/** Throws: `ToolGrammarError`. */
export function taggedGrammar(form: TaggedForm, whole: SchemaPart): TagNode {
  const { open, nameEnd, close } = form;
  const schema = openSchema(whole);
  checkKeywords(whole, schema, ['type', 'properties', 'required', 'additionalProperties']);
  const properties = propertiesOf(whole, schema);
  if (properties.length === 0) return otherArguments(form, whole, schema.additionalProperties);
  return sequence(
    ...properties.map(({ name, isRequired, part }) => {
      if ((name + nameEnd).indexOf(nameEnd) !== name.length)
        throw new ToolGrammarError(part.place, 'The name of this argument cannot be written by this model');
      const argument = sequence(text(open + name + nameEnd), valueGrammar(part), text(close));
      return isRequired ? argument : optional(argument);
    }),
  );
}

function otherArguments(
  { open, nameEnd, close }: TaggedForm,
  whole: SchemaPart,
  additional: unknown,
): TagNode {
  if (additional === false) return text('');
  const schema = isSchema(additional) ? additional : {};
  const { place } = whole;
  const value = valueGrammar({ ...whole, schema, place: `${place}/additionalProperties` });
  const argument = sequence(text(open), regex(ANY_NAME, place), text(nameEnd), value, text(close));
  return optional(repeated(argument, ''));
}

function valueGrammar(part: SchemaPart): TagNode {
  const types = typesOf(part.schema, part.root);
  if (!types.has('string')) return json(part);
  const schema = openSchema(part);
  const values = 'const' in schema ? [schema.const] : schema.enum;
  if (Array.isArray(values))
    return choice(values.map(value => text(typeof value === 'string' ? value : JSON.stringify(value))));
  if (types.size > 1) {
    checkKeywords(part, schema, ['type', 'anyOf']);
    return textValue(part.place);
  }
  return stringGrammar(part, schema as { readonly minLength?: number; readonly maxLength?: number });
}

function stringGrammar(
  part: SchemaPart,
  schema: { readonly minLength?: number; readonly maxLength?: number },
): TagNode {
  checkKeywords(part, schema, ['type', 'minLength', 'maxLength']);
  const { minLength, maxLength } = schema;
  if (minLength === undefined && maxLength === undefined) return textValue(part.place);
  return textValue(part.place, { least: minLength ?? 0, most: maxLength ?? null });
}
