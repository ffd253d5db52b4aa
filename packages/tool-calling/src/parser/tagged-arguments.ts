// Arguments between tags, each a string as it is or a value as JSON -> JSON of an object. Where the tags do not tell which it is,
// the schema decides: a string where only strings are allowed, which streams; JSON where none is; otherwise the JSON value
// that the text is, if the schema allows one of its type, and else a string.

import { findFirst, longestOpenMark } from '../find-marks.ts';
import { isSchema, mergeSchema } from '../merged-schema.ts';
import type { ArgumentsForm, ToolSchema } from '../tool-dialect.ts';
import { readTextValue, typesOf, type ValueType } from '../value-kinds.ts';
import type { ArgumentsReader } from './arguments-reader.ts';

type TaggedForm = Extract<ArgumentsForm, { readonly kind: 'tagged' }>;

/** The argument that is open. */
interface OpenValue {
  readonly types: ReadonlySet<ValueType>;
  /** It is a string whatever its text is, so it streams. */
  readonly isText: boolean;
}

export function createTaggedArguments(form: TaggedForm, parameters: ToolSchema): ArgumentsReader {
  const { open, close } = form;
  const { schema } = mergeSchema(parameters, parameters) ?? { schema: parameters };
  let state: 'between' | 'name' | 'value' | 'string' | 'wrapped string' = 'between';
  let held = '';
  let count = 0;
  let value: OpenValue = { types: new Set(), isText: false };

  /** Null while the next mark is not complete; otherwise the JSON of one step. */
  function step(): string | null {
    switch (state) {
      case 'between':
        if (!held.startsWith(open)) return null;
        held = held.slice(open.length);
        state = 'name';
        return '';
      case 'name':
        return readName();
      case 'value':
        return readValueStart() ?? (value.isText ? null : readWholeValue());
      case 'string':
      case 'wrapped string':
        return readString();
    }
  }

  function readName(): string | null {
    const end = findFirst(held, nameEndsOf(form));
    if (end === null) return null;
    const name = held.slice(0, end.at);
    held = held.slice(end.at + end.mark.length);
    value = openValue(form, end.mark, typesOf(schemaOf(schema, name), parameters));
    state = 'value';
    return `${count++ === 0 ? '' : ', '}${JSON.stringify(name)}: `;
  }

  /** The quote of a string; null where it is none, or not known yet. */
  function readValueStart(): string | null {
    const { types, isText } = value;
    const mark = types.has('string') ? (form.wrap?.open ?? '') : '';
    if (mark !== '' && held.startsWith(mark)) {
      held = held.slice(mark.length);
      state = 'wrapped string';
      return '"';
    }
    if (!isText || (mark !== '' && mark.startsWith(held))) return null;
    state = 'string';
    return '"';
  }

  function readString(): string | null {
    const mark = state === 'wrapped string' ? form.wrap!.close + close : close;
    const end = held.indexOf(mark);
    if (end === -1) {
      const open = longestOpenMark(held, [mark]);
      // Half of a surrogate pair would be escaped by itself.
      const settled = wholeCharacters(held, held.length - open);
      const json = inString(held.slice(0, settled));
      held = held.slice(settled);
      return json === '' ? null : json;
    }
    const text = held.slice(0, end);
    held = held.slice(end + mark.length);
    state = 'between';
    return `${inString(text)}"`;
  }

  function readWholeValue(): string | null {
    const { types } = value;
    const end = types.has('string') ? held.indexOf(close) : indexOutsideStrings(held, close);
    if (end === -1) return null;
    const text = held.slice(0, end);
    held = held.slice(end + close.length);
    state = 'between';
    return readTextValue(text, types);
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

/** The texts that may follow a name. */
function nameEndsOf({ nameEnd, jsonNameEnd }: TaggedForm): readonly string[] {
  return jsonNameEnd === undefined ? [nameEnd] : [nameEnd, jsonNameEnd];
}

function openValue(form: TaggedForm, nameEnd: string, types: ReadonlySet<ValueType>): OpenValue {
  if (form.jsonNameEnd === undefined) return { types, isText: types.size === 1 && types.has('string') };
  return nameEnd === form.nameEnd ? { types, isText: true } : { types: new Set(), isText: false };
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
