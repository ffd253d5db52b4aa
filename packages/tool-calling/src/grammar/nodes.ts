// Makers of the nodes that grammars of calls consist of.

import type { JsonValue } from '@ortler/json';
import type { TagNode } from '@ortler/structured-output';
import { type SchemaPart, standAlone } from './schema-part.ts';

export const text = (value: string): TagNode => ({ kind: 'text', text: value });

/** Nodes in order, with neighbouring texts joined. */
export function sequence(...items: readonly TagNode[]): TagNode {
  const joined: TagNode[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = text(last.text + item.text);
    else if (item.kind !== 'text' || item.text !== '') joined.push(item);
  }
  return joined.length === 1
    ? joined[0]!
    : joined.length === 0
      ? text('')
      : { kind: 'sequence', items: joined };
}

export function choice(items: readonly TagNode[]): TagNode {
  return items.length === 1 ? items[0]! : { kind: 'choice', items };
}

export const optional = (item: TagNode): TagNode => choice([text(''), item]);

/** One item at least. */
export function repeated(item: TagNode, separator: string): Extract<TagNode, { kind: 'separated' }> {
  const tag = { kind: 'tag', begin: '', content: item, ends: [''] } as const;
  return { kind: 'separated', separator, tags: [tag], needsOne: true, stopsAfterFirst: false };
}

/** Calls, one at least. */
export const separatedCalls = (call: TagNode, separator: string): TagNode => ({
  ...repeated(call, separator),
  areCalls: true,
});

export const anyText = (place: string): TagNode => ({ kind: 'any-text', place });

/** Text of an argument, up to the mark after it. `first`: pattern of its first character, which it then has. */
export const textValue = (place: string, length?: TextLength, first?: string): TagNode => ({
  kind: 'any-text',
  place,
  isValue: true,
  ...(length !== undefined && { length }),
  ...(first !== undefined && { first }),
});

/** Unit: characters. */
export interface TextLength {
  readonly min: number;
  readonly max: number | null;
}

/** Names of arguments and keys where the schema names none, as a regular expression. */
export const ANY_NAME = '[A-Za-z0-9_.-]{1,64}';

export const regex = (pattern: string, place: string): TagNode => ({ kind: 'regex', pattern, place });

/** JSON of a part of a schema. Throws: `ToolGrammarError`. */
export const json = (part: SchemaPart): TagNode => ({
  kind: 'json',
  schema: standAlone(part) as JsonValue,
  place: part.place,
  isLenient: !part.isStrict,
});
