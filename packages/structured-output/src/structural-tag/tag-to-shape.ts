// Tag nodes -> the outline of the answer, in which the matcher finds the JSON whose form it keeps. Parts that it does not
// read (patterns, grammars) are any characters.

import { isMap, type JsonValue } from '@ortler/json';
import type { AnswerShape } from '../answer-shape.ts';
import { hasLongNumbers } from '../json-schema/long-numbers.ts';
import type { TaggedNode, TagNode } from '../tag-node.ts';

const ANY: AnswerShape = { kind: 'any', characters: null };

/** `until`: the texts that may follow, at which free text ends. Empty: the answer ends here. */
export function tagToShape(node: TagNode, until: readonly string[] = []): AnswerShape {
  switch (node.kind) {
    case 'text':
      return node;
    case 'json':
      return {
        kind: 'json',
        first: firstCharacters(node.schema),
        hasLongNumbers: hasLongNumbers(node.schema),
      };
    case 'regex':
      return { kind: 'any', characters: CHARACTER_CLASS.exec(node.pattern)?.[1] ?? null };
    case 'grammar':
      return ANY;
    case 'any-text':
      return until.length === 0 ? ANY : { kind: 'until', ends: until, isValue: node.isValue === true };
    case 'other-text':
      return { kind: 'other', beginnings: node.beginnings };
    case 'sequence':
      return sequenceShape(node.items, until);
    case 'choice':
      return { kind: 'choice', items: node.items.map(item => tagToShape(item, until)) };
    case 'rules': {
      const rules = Object.entries(node.rules).map(([name, rule]) => [name, tagToShape(rule)]);
      return { kind: 'rules', rules: Object.fromEntries(rules), content: tagToShape(node.content) };
    }
    case 'rule':
      return node;
    case 'tag':
      return sequenceOf({ kind: 'text', text: node.begin }, contentShape(node));
    case 'triggered': {
      // Where a trigger is longer than another one, both are ends; the content says which one it was.
      const rests = node.tags.flatMap(tag =>
        node.triggers
          .filter(trigger => tag.begin.startsWith(trigger))
          .map(trigger =>
            sequenceOf({ kind: 'text', text: tag.begin.slice(trigger.length) }, contentShape(tag)),
          ),
      );
      const item = sequenceOf(
        { kind: 'until', ends: node.triggers, isValue: false },
        { kind: 'choice', items: rests },
      );
      return node.stopsAfterFirst
        ? item
        : { kind: 'repeated', item, separator: '', mayBeMissing: true, areCalls: false };
    }
    case 'separated': {
      const { separator, needsOne, tags, areCalls = false } = node;
      return {
        kind: 'repeated',
        item: { kind: 'choice', items: tags.map(tag => tagToShape(tag)) },
        separator,
        mayBeMissing: !needsOne,
        areCalls,
      };
    }
  }
}

/** The matcher has something to do in the answer. */
export function hasValues(shape: AnswerShape): boolean {
  switch (shape.kind) {
    case 'json':
      return true;
    case 'until':
      return shape.isValue;
    case 'sequence':
    case 'choice':
      return shape.items.some(hasValues);
    case 'repeated':
      return hasValues(shape.item);
    case 'rules':
      return [shape.content, ...Object.values(shape.rules)].some(hasValues);
    default:
      return false;
  }
}

function sequenceShape(nodes: readonly TagNode[], until: readonly string[]): AnswerShape {
  const items: AnswerShape[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!;
    const next = nodes[i + 1];
    if (node.kind === 'any-text' && next?.kind === 'text') {
      items.push(tagToShape(node, [next.text]));
      i++;
    } else items.push(tagToShape(node, next === undefined ? until : []));
  }
  return sequenceOf(...items);
}

function contentShape({ content, ends }: TaggedNode): AnswerShape {
  const following = ends.includes('') ? [] : ends;
  const lastOf = (node: TagNode): TagNode => (node.kind === 'sequence' ? (node.items.at(-1) ?? node) : node);
  const body = tagToShape(content, following);
  // Free text reads its end itself.
  if (lastOf(content).kind === 'any-text' && following.length > 0) return body;
  return sequenceOf(body, { kind: 'choice', items: ends.map(text => ({ kind: 'text', text })) });
}

function sequenceOf(...items: readonly AnswerShape[]): AnswerShape {
  return { kind: 'sequence', items };
}

/** Any number of characters of one class. */
const CHARACTER_CLASS = /^(\[(?!.*--)[^[\]\\&~]+\])(?:[+*]|\{\d+(?:,\d*)?\})?$/;

const FIRST_CHARACTERS: Readonly<Record<string, string>> = {
  object: '{',
  array: '[',
  string: '"',
  number: '-0123456789',
  integer: '-0123456789',
  boolean: 'tf',
  null: 'n',
};
const ANY_FIRST = Object.values(FIRST_CHARACTERS).join('');

function firstCharacters(schema: JsonValue): string {
  if (!isMap(schema) || 'nullable' in schema) return ANY_FIRST;
  const { type } = schema;
  const names = Array.isArray(type) ? type : [type];
  return names.map(name => FIRST_CHARACTERS[String(name)] ?? ANY_FIRST).join('');
}
