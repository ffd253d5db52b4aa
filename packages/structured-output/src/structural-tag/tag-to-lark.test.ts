import { describe, expect, it } from 'vitest';
import type { TagNode } from '../tag-node.ts';
import { type TagLeaves, tagToLark } from './tag-to-lark.ts';

const LEAVES: TagLeaves = {
  toJson: ({ schema }) => schema,
  toRegex: pattern => pattern,
  toRules: (_text, prefix) => ({ definitions: `${prefix}r0: "g"`, start: `${prefix}r0` }),
};
const SPECIAL = [
  { id: 7, name: '<|a|>' },
  { id: 8, name: '<|a|>b' },
];
const write = (node: TagNode) => tagToLark(node, SPECIAL, LEAVES).split('\n');
const text = (value: string): TagNode => ({ kind: 'text', text: value });
const ANY: TagNode = { kind: 'any-text', place: '#/format' };

describe('a tag as Lark', () => {
  it('has special tokens in texts as token references, the longest name first', () => {
    expect(write(text('x<|a|>y'))).toEqual(['start: ("x" <[7]> "y")']);
    expect(write(text('<|a|>b'))).toEqual(['start: <[8]>']);
  });

  it('reads free text lazily up to the end of its tag', () => {
    expect(write({ kind: 'tag', begin: '<', content: ANY, ends: ['>', ')'] })).toEqual([
      'start: "<" lazy0',
      'lazy0[lazy]: /(?s:.*)/ (">" | ")")',
    ]);
  });

  it('lets a special token end free text by itself', () => {
    expect(write({ kind: 'tag', begin: '<', content: ANY, ends: ['<|a|>'] })).toEqual([
      'start: "<" TEXT0 <[7]>',
      'TEXT0: /(?s:.*)/',
    ]);
    expect(write({ kind: 'tag', begin: '<', content: ANY, ends: ['</<|a|>>'] })).toEqual([
      'start: "<" TEXT0 (<[7]> ">")',
      'TEXT0: /(?s:.*)/ "</"',
    ]);
  });

  it('embeds schemas, patterns and grammars as rules', () => {
    const items: readonly TagNode[] = [
      { kind: 'json', schema: { type: 'null' }, place: '#' },
      { kind: 'regex', pattern: 'a/b', place: '#' },
      { kind: 'grammar', text: '', place: '#' },
    ];
    expect(write({ kind: 'sequence', items })).toEqual([
      'start: (part0 part1 g2_r0)',
      'part0: %json {"type":"null"}',
      'part1: /a\\/b/',
      'g2_r0: "g"',
    ]);
  });

  it('joins patterns and the text after them into one terminal, up to four patterns', () => {
    const pattern: TagNode = { kind: 'regex', pattern: 'a', place: '#' };
    expect(write({ kind: 'sequence', items: [pattern, text('x')] })).toEqual([
      'start: (PART0)',
      'PART0: /a/ "x"',
    ]);
    expect(write({ kind: 'tag', begin: '<', content: pattern, ends: ['>'] })).toEqual([
      'start: "<" lazy0',
      'lazy0[lazy]: /a/ (">")',
    ]);
    const five = Array.from({ length: 5 }, () => pattern);
    expect(write({ kind: 'sequence', items: [...five, text('x')] })).toEqual([
      'start: (PART0 PART1)',
      'PART0: /a/ /a/ /a/ /a/',
      'PART1: /a/ "x"',
    ]);
  });

  it('keeps triggers out of the text after the last tag', () => {
    const tag = { kind: 'tag', begin: '<f>', content: text('x'), ends: ['</f>'] } as const;
    const lines = write({
      kind: 'triggered',
      triggers: ['<f'],
      tags: [tag],
      needsOne: false,
      stopsAfterFirst: false,
    });
    expect(lines[0]).toBe('start: (part1)* FREE2');
    expect(lines.at(-1)).toBe('FREE2: /(?s:.*)/ & ~(/(?s:.*)/ "<f" /(?s:.*)/)');
  });

  it('refuses free text whose end is undefined, with its place', () => {
    const sequence: TagNode = { kind: 'sequence', items: [ANY, { kind: 'regex', pattern: 'a', place: '#' }] };
    expect(() => write(sequence)).toThrow(/directly before the end of its tag \(at #\/format\)/);
  });
});
