// Arguments between tags, each a string as it is or a value as JSON -> JSON of an object. The schema decides what a text is:
// a string where only strings are allowed, which streams; JSON where none is; otherwise the JSON value that the text is,
// if the schema allows one of its type, and else a string.

import { longestOpenMark } from '../find-marks.ts';
import type { ArgumentsForm, ToolSchema } from '../tool-dialect.ts';
import { isSchema, typeOf, typesOf } from '../value-kinds.ts';
import type { ArgumentsReader } from './arguments-reader.ts';

type TaggedForm = Extract<ArgumentsForm, { readonly kind: 'tagged' }>;

export function createTaggedArguments(
  { open, nameEnd, close }: TaggedForm,
  parameters: ToolSchema,
): ArgumentsReader {
  let state: 'between' | 'name' | 'value' = 'between';
  let held = '';
  let count = 0;
  let name = '';

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
      name = held.slice(0, end);
      held = held.slice(end + nameEnd.length);
      state = 'value';
      const json = `${count === 0 ? '' : ', '}${JSON.stringify(name)}: `;
      count++;
      return isText(parameters, name) ? `${json}"` : json;
    }
    const end = typeIsJson(parameters, name) ? indexOutsideStrings(held, close) : held.indexOf(close);
    if (isText(parameters, name)) {
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
    return toJson(value, parameters, name);
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
export function schemaOf({ properties, additionalProperties }: ToolSchema, name: string): unknown {
  if (isSchema(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isSchema(additionalProperties) ? additionalProperties : undefined;
}

function isText(parameters: ToolSchema, name: string): boolean {
  const types = typesOf(schemaOf(parameters, name), parameters);
  return types.size === 1 && types.has('string');
}

function toJson(text: string, parameters: ToolSchema, name: string): string {
  const types = typesOf(schemaOf(parameters, name), parameters);
  if (!types.has('string')) return text;
  try {
    const value: unknown = JSON.parse(text);
    const type = typeOf(value);
    const isAllowed =
      types.has(type) || (type === 'number' && types.has('integer') && Number.isInteger(value));
    if (isAllowed && type !== 'string') return text;
  } catch {
    // It is a string.
  }
  return JSON.stringify(text);
}

const typeIsJson = (parameters: ToolSchema, name: string) =>
  !typesOf(schemaOf(parameters, name), parameters).has('string');

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
