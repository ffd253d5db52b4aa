// Arguments between tags, each a string as it is or a value as JSON -> JSON of an object. The schema decides what a text is:
// a string where only strings are allowed, which streams; JSON where none is; otherwise the JSON value that the text is,
// if the schema allows one of its type, and else a string.

import { longestOpenMark } from '../find-marks.ts';
import { isSchema, mergeSchema } from '../merged-schema.ts';
import type { ArgumentsForm, ToolSchema } from '../tool-dialect.ts';
import { readTextValue, typesOf, type ValueType } from '../value-kinds.ts';
import type { ArgumentsReader } from './arguments-reader.ts';

type TaggedForm = Extract<ArgumentsForm, { readonly kind: 'tagged' }>;

export function createTaggedArguments(
  { open, nameEnd, close }: TaggedForm,
  parameters: ToolSchema,
): ArgumentsReader {
  const { schema } = mergeSchema(parameters, parameters) ?? { schema: parameters };
  let state: 'between' | 'name' | 'value' = 'between';
  let held = '';
  let count = 0;
  /** Of the argument that is open. */
  let types: ReadonlySet<ValueType> = new Set();
  let isText = false;

  /** Null while the next mark is not complete; otherwise the JSON of one step. */
  function step(): string | null {
    if (state === 'between') {
      if (!held.startsWith(open)) return null;
      held = held.slice(open.length);
      state = 'name';
    }
    if (state === 'name') {
      const end = held.indexOf(nameEnd);
      if (end === -1) return null;
      const name = held.slice(0, end);
      held = held.slice(end + nameEnd.length);
      types = typesOf(schemaOf(schema, name), parameters);
      isText = types.size === 1 && types.has('string');
      state = 'value';
      const json = `${count === 0 ? '' : ', '}${JSON.stringify(name)}: `;
      count++;
      return isText ? `${json}"` : json;
    }
    const end = types.has('string') ? held.indexOf(close) : indexOutsideStrings(held, close);
    if (isText) {
      // Half a pair of surrogates would be escaped by itself.
      const settled = end === -1 ? wholeCharacters(held, held.length - longestOpenMark(held, [close])) : end;
      const json = inString(held.slice(0, settled));
      held = held.slice(settled);
      if (end === -1) return json === '' ? null : json;
      held = held.slice(close.length);
      state = 'between';
      return `${json}"`;
    }
    if (end === -1) return null;
    const value = held.slice(0, end);
    held = held.slice(end + close.length);
    state = 'between';
    return readTextValue(value, types);
  }

  let isStarted = false;
  return {
    push(text) {
      held += text;
      let json = isStarted ? '' : '{';
      isStarted = true;
      for (let next = step(); next !== null; next = step()) json += next;
      const isOver = state === 'between' && held !== '' && !open.startsWith(held);
      return isOver ? { json: `${json}}`, rest: held } : { json, rest: null };
    },
  };
}

/** The schema of one argument; undefined where the schema does not name it. */
function schemaOf({ properties, additionalProperties }: ToolSchema, name: string): unknown {
  if (isSchema(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isSchema(additionalProperties) ? additionalProperties : undefined;
}

/** A mark inside a string of JSON is a part of the string. */
function indexOutsideStrings(json: string, mark: string): number {
  let isString = false;
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') isString = !isString;
    else if (isString && json[at] === '\\') at++;
    else if (!isString && json.startsWith(mark, at)) return at;
  }
  return -1;
}

const inString = (text: string) => JSON.stringify(text).slice(1, -1);

function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}
