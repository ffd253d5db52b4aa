// What form an answer must have: a JSON Schema, written or made from a form, a choice, or a regular expression. Pure.

export type FormatKind = 'text' | 'json_object' | 'schema' | 'choice' | 'regex';

export interface AnswerFormat {
  readonly kind: FormatKind;
  /** A JSON Schema, one choice for each line, or a regular expression. */
  readonly text: string;
}

export const FORMAT_NAMES: Readonly<Record<FormatKind, string>> = {
  text: 'Any text',
  json_object: 'Any JSON object',
  schema: 'JSON Schema',
  choice: 'One of these lines',
  regex: 'Regular expression',
};

export type FormatFields =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly fault?: undefined }
  | { readonly fault: string };

/** The fields of a chat that ask for the format. */
export function toFormatFields({ kind, text }: AnswerFormat): FormatFields {
  switch (kind) {
    case 'text':
      return { fields: {} };
    case 'json_object':
      return { fields: { response_format: { type: 'json_object' } } };
    case 'schema':
      try {
        const schema: unknown = JSON.parse(text);
        const json_schema = { name: 'answer', schema, strict: true };
        return { fields: { response_format: { type: 'json_schema', json_schema } } };
      } catch (error) {
        return { fault: `The schema is not JSON: ${error instanceof Error ? error.message : String(error)}` };
      }
    case 'choice': {
      const choice = text.split('\n').filter(line => line !== '');
      return choice.length === 0
        ? { fault: 'A choice needs at least one line.' }
        : { fields: { structured_outputs: { choice } } };
    }
    case 'regex':
      return text === ''
        ? { fault: 'The regular expression is empty.' }
        : { fields: { structured_outputs: { regex: text } } };
  }
}

/** Whether the text that has come is a whole JSON value; null where the format is not JSON. */
export function isWholeJson({ kind }: AnswerFormat, content: string): boolean | null {
  if (kind !== 'schema' && kind !== 'json_object') return null;
  try {
    JSON.parse(content);
    return true;
  } catch {
    return false;
  }
}

export const PROPERTY_TYPES = ['string', 'integer', 'number', 'boolean', 'strings', 'one of'] as const;

/** One row of the form. */
export interface SchemaProperty {
  readonly name: string;
  readonly type: (typeof PROPERTY_TYPES)[number];
  /** Of `one of`: the values, with commas between them. */
  readonly values: string;
}

const TYPES: Readonly<Record<SchemaProperty['type'], (values: readonly string[]) => object>> = {
  string: () => ({ type: 'string' }),
  integer: () => ({ type: 'integer' }),
  number: () => ({ type: 'number' }),
  boolean: () => ({ type: 'boolean' }),
  strings: () => ({ type: 'array', items: { type: 'string' } }),
  'one of': values => ({ enum: values }),
};

/** The schema of an object with these properties, all of them required. Rows without a name are left out. */
export function toSchema(properties: readonly SchemaProperty[]): object {
  const named = properties.filter(({ name }) => name.trim() !== '');
  const entries = named.map(({ name, type, values }) => {
    const options = values.split(',').map(value => value.trim());
    return [name.trim(), TYPES[type](options.filter(value => value !== ''))] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(entries),
    required: entries.map(([name]) => name),
    additionalProperties: false,
  };
}

/** The rows that a schema was made from; null for a schema that the form cannot show. */
export function toProperties(text: string): readonly SchemaProperty[] | null {
  let schema: { properties?: Record<string, { type?: string; enum?: unknown[] }> };
  try {
    schema = JSON.parse(text);
  } catch {
    return null;
  }
  const rows = Object.entries(schema?.properties ?? {}).map(([name, property]): SchemaProperty => {
    if (Array.isArray(property.enum)) return { name, type: 'one of', values: property.enum.join(', ') };
    const type = property.type === 'array' ? 'strings' : property.type;
    return { name, type: PROPERTY_TYPES.find(each => each === type) ?? 'string', values: '' };
  });
  return JSON.stringify(toSchema(rows)) === JSON.stringify(schema) ? rows : null;
}
