import { describe, expect, it } from 'vitest';
import { DEFAULT_CONSTRAINT_LIMITS } from '../constraint-spec.ts';
import { parseTag } from './parse-tag.ts';

const parse = (tag: unknown, depth = DEFAULT_CONSTRAINT_LIMITS.depth) =>
  parseTag(tag, { ...DEFAULT_CONSTRAINT_LIMITS, depth });
const TEXT = { type: 'const_string', value: 'x' };
const tag = (begin: string, content: unknown = TEXT) => ({ begin, content, end: '>' });

describe('a structural tag', () => {
  it('is the same tree in both published shapes', () => {
    const structures = [{ begin: '<f=a>', schema: {}, end: '</f>' }];
    const old = parse({ type: 'structural_tag', structures, triggers: ['<f='] });
    const content = { type: 'json_schema', json_schema: {} };
    const tags = [{ begin: '<f=a>', content, end: '</f>' }];
    const format = { type: 'triggered_tags', triggers: ['<f='], tags };
    const place = '#/format/tags/0/content/json_schema';
    expect(old).toMatchObject({
      kind: 'triggered',
      triggers: ['<f='],
      needsOne: false,
      stopsAfterFirst: false,
    });
    expect(parse({ format })).toEqual({
      ...old,
      tags: [{ kind: 'tag', begin: '<f=a>', content: { kind: 'json', schema: {}, place }, ends: ['</f>'] }],
    });
  });

  it('may be JSON text', () => {
    expect(parse(JSON.stringify({ format: TEXT }))).toEqual({ kind: 'text', text: 'x' });
  });

  it.each([
    ['[', /must be JSON/],
    [[], /must be an object/],
    [{ type: 'other' }, /The type of a structural tag.*at #\/type/],
    [{ format: TEXT, more: 1 }, /The key more is not supported.*at #\/more/],
    [{ format: { type: 'poem' } }, /The format type "poem" is not supported.*at #\/format\/type/],
    [{ format: { type: 'sequence', elements: [] } }, /At least one element.*at #\/format\/elements/],
    [
      { format: { type: 'sequence', elements: [TEXT, { type: 'regex' }] } },
      /at #\/format\/elements\/1\/pattern/,
    ],
    [{ format: { type: 'tag', ...tag('<', undefined), content: undefined } }, /A tag needs content/],
    [{ structures: [{ begin: '<', end: '>' }], triggers: ['<'] }, /A structure needs a schema/],
  ])('%j is refused with its place', (value, message) => {
    expect(() => parse(value)).toThrow(message);
  });

  it.each([
    [['a'], ['b'], /starts with none of the triggers/],
    [['a', 'c'], ['ab'], /trigger "c" starts none of the tags/],
    [['a', 'ab'], ['abc'], /begins with another trigger/],
    [[''], ['a'], /must not be empty/],
  ])('with triggers %j for tags %j is refused', (triggers, begins, message) => {
    const format = { type: 'triggered_tags', triggers, tags: begins.map(begin => tag(begin)) };
    expect(() => parse({ format })).toThrow(message);
  });

  it('is refused when it is nested too deeply', () => {
    const nested = { type: 'sequence', elements: [{ type: 'sequence', elements: [TEXT] }] };
    expect(parse({ format: nested }, 3)).toBeDefined();
    expect(() => parse({ format: nested }, 2)).toThrow(/nested too deeply/);
  });
});
