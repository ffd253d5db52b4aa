// Long lists of token ids, and prompts as text or token ids. One loop reads them and stops at the first fault, because a
// schema per element would take a second for a million ids.

import { z } from 'zod';
import { type Rejection, readInteger, readIntegerButNoText } from './lax-values.ts';

/** Maximum number of prompts of one request. A longer list is refused before any prompt is validated. */
export const MAX_PROMPT_COUNT = 128;
/** Maximum number of ids of one request in all its lists. This many take tenths of a second to read, check and decode. */
export const MAX_TOKEN_ID_COUNT = 262_144;

/** Prompts as texts or as lists of token ids, never mixed. */
export type Prompts = readonly string[] | readonly (readonly number[])[];

/** A fault and its path from the value that was read. */
interface PlacedRejection {
  readonly rejection: Rejection;
  readonly path: readonly number[];
}

/** A list of token ids, without coercion: text can only be a prompt here. */
export function tokenIdList() {
  return idList(readIntegerButNoText);
}

/** A list of token ids in which numeric text is converted, as in other fields. */
export function laxTokenIdList() {
  return idList(readInteger);
}

function idList(read: (value: unknown) => number | Rejection) {
  // For documents only; the reader validates the elements.
  const documented: z.ZodType<number[]> = z.any().meta({ type: 'array', items: { type: 'integer' } });
  return z.preprocess(
    (value: number[], context) => report(context.issues, value, readTokenIds(value, read)),
    documented,
  );
}

/** A text, a list of texts, a list of token ids or a list of such lists. The parsed value is always a list of prompts. */
export function promptList() {
  const ids = { type: 'array', items: { type: 'integer' } };
  const documented: z.ZodType<Prompts> = z.any().meta({
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' } },
      ids,
      { type: 'array', items: ids },
    ],
  });
  return z.preprocess(
    (value: string | Prompts | readonly number[], context) =>
      report(context.issues, value, readPrompts(value)),
    documented,
  );
}

function readTokenIds(value: unknown, read = readIntegerButNoText): number[] | PlacedRejection {
  if (!Array.isArray(value)) return at([], LIST_TYPE);
  if (value.length > MAX_TOKEN_ID_COUNT) return at([], tooLong(MAX_TOKEN_ID_COUNT));
  const ids = new Array<number>(value.length);
  for (let index = 0; index < value.length; index++) {
    const id = read(value[index]);
    if (typeof id !== 'number') return at([index], id);
    ids[index] = id;
  }
  return ids;
}

function readPrompts(value: unknown): Prompts | PlacedRejection {
  if (typeof value === 'string') return value === '' ? at([], EMPTY_TEXT) : [value];
  if (!Array.isArray(value)) return at([], PROMPT_TYPE);
  if (value.length === 0) return at([], EMPTY_LIST);
  const [first]: readonly unknown[] = value;
  if (typeof first !== 'string' && !Array.isArray(first)) {
    const ids = readTokenIds(value);
    return Array.isArray(ids) ? [ids] : ids;
  }
  if (value.length > MAX_PROMPT_COUNT) return at([], tooLong(MAX_PROMPT_COUNT));
  return typeof first === 'string' ? readTexts(value) : readIdLists(value);
}

function readTexts(values: readonly unknown[]): string[] | PlacedRejection {
  const wrong = values.findIndex(text => typeof text !== 'string');
  return wrong === -1 ? (values as string[]) : at([wrong], STRING_TYPE);
}

function readIdLists(values: readonly unknown[]): number[][] | PlacedRejection {
  const lists: number[][] = [];
  let count = 0;
  for (const [index, value] of values.entries()) {
    if (Array.isArray(value)) count += value.length;
    if (count > MAX_TOKEN_ID_COUNT) return at([], TOO_MANY_IDS);
    const ids = readTokenIds(value);
    if (!Array.isArray(ids)) return { ...ids, path: [index, ...ids.path] };
    lists.push(ids);
  }
  return lists;
}

function report<Value extends readonly unknown[]>(
  issues: z.core.$ZodRawIssue[],
  input: unknown,
  result: Value | PlacedRejection,
): Value {
  if (Array.isArray(result)) return result as unknown as Value;
  const { rejection, path } = result as PlacedRejection;
  issues.push({
    code: 'custom',
    path: [...path],
    message: rejection.msg,
    params: { type: rejection.type },
    input,
  });
  return z.NEVER;
}

function at(path: readonly number[], rejection: Rejection): PlacedRejection {
  return { path, rejection };
}

function tooLong(limit: number): Rejection {
  return { type: 'too_long', msg: `List should have at most ${limit} items after validation` };
}

const TOO_MANY_IDS: Rejection = {
  type: 'too_long',
  msg: `Lists should have at most ${MAX_TOKEN_ID_COUNT} items together after validation`,
};
const LIST_TYPE: Rejection = { type: 'list_type', msg: 'Input should be a valid list' };
const STRING_TYPE: Rejection = { type: 'string_type', msg: 'Input should be a valid string' };
const PROMPT_TYPE: Rejection = {
  type: 'string_type',
  msg: 'Input should be a valid string, a list of strings, a list of token ids or a list of such lists',
};
const EMPTY_LIST: Rejection = {
  type: 'too_short',
  msg: 'List should have at least 1 item after validation',
};
const EMPTY_TEXT: Rejection = {
  type: 'string_too_short',
  msg: 'String should have at least 1 character',
};
