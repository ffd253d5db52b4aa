// The form of JSON that is a part of the answer, and of arguments that are plain text.

import { describe, expect, it } from 'vitest';
import { allows, byteEngine, prepare } from '../../test/feed-text.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import type { TagNode } from '../tag-node.ts';

const text = (value: string): TagNode => ({ kind: 'text', text: value });
const json = (schema: object): TagNode => ({
  kind: 'json',
  schema: schema as never,
  place: 'x',
  isLenient: true,
});
const sequence = (...items: TagNode[]): TagNode => ({ kind: 'sequence', items });
const choice = (...items: TagNode[]): TagNode => ({ kind: 'choice', items });
const repeated = (content: TagNode): TagNode => ({
  kind: 'separated',
  separator: '',
  tags: [{ kind: 'tag', begin: '', content, ends: [''] }],
  needsOne: true,
  stopsAfterFirst: false,
});

const OBJECT = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    all: { type: 'array', items: { type: 'string' } },
  },
  required: ['id'],
  additionalProperties: false,
};

/** Ways in which models write arguments. */
const JSON_CALL = repeated(
  sequence(
    text('<call>{"name": "'),
    choice(text('save'), text('save_all')),
    text('", "arguments": '),
    json(OBJECT),
    text('}</call>'),
  ),
);
const argument = (name: string, value: TagNode) => sequence(text(`<p=${name}>\n`), value, text('\n</p>\n'));
const TAGGED_CALL = sequence(
  text('<f=save>\n'),
  argument('id', json({ type: 'integer' })),
  argument('name', { kind: 'any-text', place: 'x', isValue: true }),
  text('</f>'),
);
const PYTHON_CALL = sequence(
  text('[save(id='),
  json({ type: 'integer' }),
  text(', name='),
  choice(text('None'), json({ type: 'string' })),
  text(')]'),
);

const matcherOf = (tag: TagNode, style: JsonStyle = {}) => prepare({ tag, style });

/** The longest beginning of the text that is allowed. */
function allowedPart(tag: TagNode, whole: string, style: JsonStyle = {}): string {
  const matcher = byteEngine.compile(matcherOf(tag, style).grammar);
  const bytes = [...Buffer.from(whole)];
  const count = bytes.findIndex(byte => !matcher.accept(byte));
  matcher.dispose();
  return Buffer.from(bytes.slice(0, count === -1 ? bytes.length : count)).toString();
}

/** A model that writes `begin`, then the unit again and again, and where it may not any other byte, the first one first. */
function write(tag: TagNode, begin: string, unit: string, style: JsonStyle = {}) {
  const matcher = byteEngine.compile(matcherOf(tag, style).grammar);
  const mask = new Uint32Array(byteEngine.maskWordCount);
  let written = begin;
  for (const byte of Buffer.from(begin)) expect(matcher.accept(byte)).toBe(true);
  while (written.length < 3_000 && !matcher.mustStop()) {
    matcher.fillMask(mask);
    const isAllowed = (byte: number) => ((mask[byte >>> 5]! >>> (byte & 31)) & 1) === 1;
    const liked = unit.charCodeAt((unit.indexOf(written.at(-1)!) + 1) % unit.length);
    const next = [liked, ...Array.from({ length: 126 }, (_, i) => i + 1)].find(isAllowed);
    if (next === undefined) break;
    expect(matcher.accept(next)).toBe(true);
    written += String.fromCharCode(next);
  }
  const isEnded = written.length < 3_000;
  matcher.dispose();
  return { written, isEnded };
}

const CALLS: readonly [string, TagNode, string][] = [
  ['JSON', JSON_CALL, '<call>{"name": "save_all", "arguments": {"id": '],
  ['tags', TAGGED_CALL, '<f=save>\n<p=id>\n'],
  ['a notation', PYTHON_CALL, '[save(id='],
];

describe.each(CALLS)('arguments in %s', (_, tag, begin) => {
  const digits = (count: number) => '1'.repeat(count);

  it('have numbers of bounded length, unless that is turned off', () => {
    expect(allowedPart(tag, begin + digits(40))).toBe(begin + digits(19));
    expect(allowedPart(tag, begin + digits(40), { limitNumbers: false })).toBe(begin + digits(40));
  });
});

it('numbers are as long as their own schema has them', () => {
  const long = json({ anyOf: [{ type: 'integer' }, { const: 10 ** 20 }] });
  const tag = sequence(text('a='), long, text(',b='), json({ type: 'number' }), text('.'));
  expect(allowedPart(tag, `a=${'1'.repeat(24)},b=${'1'.repeat(30)}`)).toBe(
    `a=${'1'.repeat(24)},b=${'1'.repeat(17)}`,
  );
});

it('JSON in calls has one layout, on one line, which each call chooses', () => {
  const [, , begin] = CALLS[0]!;
  const call = (args: string) => `<call>{"name": "save", "arguments": ${args}}</call>`;
  for (const separator of ['', ' ']) {
    const args = `{"id":${separator}1,${separator}"name":${separator}"a , b :  c"}`;
    expect(allows(matcherOf(JSON_CALL), call(args) + call('{"id":1}') + call('{"id": 1}'))).toBe(true);
  }
  for (const rest of ['1,\n', '1,"', '1 '])
    expect(allowedPart(JSON_CALL, begin + rest)).toBe((begin + rest).slice(0, -1));
  expect(allowedPart(JSON_CALL, `${begin}1,\n  "name" : `, { whitespace: 'bounded' })).toBe(
    `${begin}1,\n  "name" : `,
  );
});

describe('a text that repeats itself', () => {
  it.each([
    ['a string of JSON', JSON_CALL, '<call>{"name": "save", "arguments": {"id": 1, "name": "'],
    ['a list of JSON', JSON_CALL, '<call>{"name": "save", "arguments": {"id": 1, "all": ["abc", "'],
    ['a string of a notation', PYTHON_CALL, '[save(id=1, name="'],
    ['text between tags', TAGGED_CALL, '<f=save>\n<p=id>\n1\n</p>\n<p=name>\n'],
  ])('comes to its end as %s', (_, tag, begin) => {
    const { written } = write(tag, begin, 'abcde ');
    const end = written.slice(begin.length).search(/["\n]/);
    expect(end).toBeGreaterThan(96);
    expect(end).toBeLessThan(400);
    const free = write(tag, begin, 'abcde ', { guardRepetition: false });
    expect(free.isEnded).toBe(false);
  });

  it('stays as it is where no argument stands', () => {
    const tag: TagNode = {
      kind: 'triggered',
      triggers: ['<call>'],
      tags: [{ kind: 'tag', begin: '<call>', content: json(OBJECT), ends: ['</call>'] }],
      needsOne: false,
      stopsAfterFirst: false,
    };
    const loop = 'ab '.repeat(300);
    const call = '<call>{"id": 1}</call>';
    expect(allows(matcherOf(tag), `${loop}${call}${loop}${call}`)).toBe(true);
    expect(allowedPart(tag, `${loop}<call>{"id": ${'1'.repeat(30)}`)).toHaveLength(loop.length + 13 + 19);
  });
});

describe('a call that was made before', () => {
  const call = sequence(text('f('), json({ type: 'string' }), text(')'));
  const tag = (separator: string, end: string): TagNode =>
    sequence(text('<'), { ...repeated(call), separator, areCalls: true } as TagNode, text(end));

  it.each([
    ['; ', '>'],
    [', f', '>'],
    ['', '>'],
    ['\n', ''],
  ])('is the last one, with %j between calls and %j after them', (separator, end) => {
    const calls = (...values: string[]) => `<${values.map(value => `f("${value}")`).join(separator)}`;
    for (const values of [
      ['a', 'a'],
      ['a', 'b', 'b'],
      ['a', 'b', 'c', 'b'],
      ['a', 'bb', 'b', 'a'],
    ]) {
      const last = calls(...values);
      const further = calls(...values, 'c');
      expect(allows(matcherOf(tag(separator, end)), last + end)).toBe(true);
      expect(allowedPart(tag(separator, end), further)).toBe(last);
      expect(allowedPart(tag(separator, end), further, { guardRepetition: false })).toBe(further);
    }
    const others = calls('a', 'b', 'c', 'bb', 'aa', 'ab');
    expect(allowedPart(tag(separator, end), others)).toBe(others);
  });

  it('ends a model that calls in a loop', () => {
    expect(write(tag('; ', '>'), '<f("', 'a"); f("').isEnded).toBe(true);
    expect(write(tag('; ', '>'), '<f("', 'a"); f("', { guardRepetition: false }).isEnded).toBe(false);
  });
});
