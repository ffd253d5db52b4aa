// A name has one spelling: for the grammar "\u0061" is another name than "a", whose value could be anything.

import { describe, expect, it } from 'vitest';
import { demoEngine, demoVocabulary } from '../../test/demo-vocabulary.ts';
import { allows, prepare } from '../../test/feed-text.ts';
import type { JsonStyle } from '../constraint-spec.ts';

const STYLES: readonly JsonStyle[] = [
  {},
  { whitespace: 'any', limitNumbers: false, guardRepetition: false },
  { whitespace: 'none' },
];
const open = { type: 'object', properties: { a: { type: 'integer' }, 'b\n': { type: 'null' } } };

describe('the names of an object', () => {
  it.each(STYLES)('have no second spelling in the style %j', style => {
    const prepared = prepare({ jsonSchema: open, style });
    for (const text of ['{"a":1}', '{"b\\n":null,"c\\"\\\\\\t":"\\u0001"}', '{"é":{"/":1}}'])
      expect(allows(prepared, text), text).toBe(true);
    for (const text of ['{"\\u0061":"x"}', '{"b\\u000a":1}', '{"c":{"\\/":1}}', '{"c\\u0061":1}'])
      expect(allows(prepared, text), text).toBe(false);
  });

  it('keep an escape that only the grammar can write', () => {
    const schema = {
      type: 'object',
      properties: { '\u0001': { type: 'null' } },
      additionalProperties: false,
    };
    expect(allows(prepare({ jsonSchema: schema }), '{"\\u0001":null}')).toBe(true);
  });

  it('have none as arguments of a call either', () => {
    const content = { type: 'json_schema', json_schema: open };
    const prepared = prepare({ structuralTag: { format: { type: 'tag', begin: '<', content, end: '>' } } });
    expect(allows(prepared, '<{"a":1}>')).toBe(true);
    expect(allows(prepared, '<{"\\u0061":"x"}>')).toBe(false);
  });

  it('are masked in whole tokens', () => {
    const { bytes, offsets, columnCount } = demoVocabulary;
    const textOf = (id: number) => Buffer.from(bytes.subarray(offsets[id], offsets[id + 1])).toString();
    const matcher = demoEngine.compile(prepare({ jsonSchema: open }).grammar);
    const write = (text: string) => {
      for (const character of text)
        expect(
          matcher.accept(
            Array.from({ length: columnCount }, (_, id) => id).find(id => textOf(id) === character)!,
          ),
        ).toBe(true);
    };
    write('{"c\\');
    const mask = new Uint32Array(demoEngine.maskWordCount);
    matcher.fillMask(mask);
    const allowed = Array.from({ length: columnCount }, (_, id) => id).filter(
      id => ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1,
    );
    expect(allowed.length).toBeGreaterThan(5);
    for (const id of allowed) expect(textOf(id)).toMatch(/^["\\bfnrt]/);
    matcher.dispose();
  });
});
