import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

const pattern = (text: string) => ({ type: 'regex', pattern: text });
const text = (value: string) => ({ type: 'const_string', value });
const tag = (begin: string, content: object, end: string | readonly string[]) => ({
  type: 'tag',
  begin,
  content,
  end,
});
const sequence = (...elements: readonly object[]) => ({ type: 'sequence', elements });
const allowed = (format: object, texts: readonly string[]) => {
  const prepared = prepare({ structuralTag: { format } });
  return texts.filter(each => allows(prepared, each));
};

describe('a pattern that the text after it fits too', () => {
  it.each([
    [tag('<think>', pattern('.*'), '</think>'), ['<think>a < b</think>', '<think></think>']],
    [tag('<t>', pattern('[a-z]+'), ['x', 'y']), ['<t>ax', '<t>by']],
    [tag('<t>', sequence(text('a'), pattern('\\w*')), 'x'), ['<t>ax', '<t>abx']],
    [sequence(pattern('[A-Z][a-z ]*'), text(' end')), ['Hello end', 'Hello there end', 'A end end']],
    [sequence(pattern('(ab|a)'), { type: 'or', elements: [text('bc'), text('c')] }), ['abc', 'ac', 'abbc']],
  ])('%j', (format, texts) => {
    expect(allowed(format, [...texts, 'Hello', '<think>a', '<t>x', '<t>1x'])).toEqual(texts);
  });

  it('ends in a tag with the first end, and what follows the tag is read', () => {
    const schema = { type: 'json_schema', json_schema: { type: 'integer' } };
    const format = sequence(tag('<think>', pattern('(?s:.*)'), '</think>'), schema);
    expect(allowed(format, ['<think>a\n</think>7', '<think>a</think>b</think>7', '<think>a7'])).toEqual([
      '<think>a\n</think>7',
    ]);
  });

  it('and free text end where a tag begins', () => {
    const digit = tag('<t>', pattern('[0-9]'), '</t>');
    for (const before of [pattern('.*'), { type: 'any_text' }])
      expect(allowed(sequence(before, digit), ['ab<t>1</t>', '<t>1</t>', 'ab', 'ab<t>c</t>'])).toEqual([
        'ab<t>1</t>',
        '<t>1</t>',
      ]);
  });

  it('is one of several', () => {
    const format = {
      type: 'or',
      elements: [text('a'), sequence(text('ab'), text('x')), pattern('a[a-z]*!')],
    };
    expect(allowed(format, ['a', 'abx', 'abx!', 'a!', 'ab'])).toEqual(['a', 'abx', 'abx!', 'a!']);
  });

  it('after JSON ends with its tag', () => {
    const schema = { type: 'json_schema', json_schema: { type: 'integer' } };
    expect(
      allowed(tag('<t>', sequence(schema, pattern('[ a-z]*')), 'end'), ['<t>7 end', '<t>7', '<t>7end']),
    ).toEqual(['<t>7 end', '<t>7end']);
  });

  it('in tags among free text leaves room for text and further tags', () => {
    const tags = [tag('<f=', pattern('[^>]+'), '</f>')];
    const format = { type: 'triggered_tags', triggers: ['<f'], tags };
    expect(allowed(format, ['a <f=x</f> b', '<f=x</f><f=y</f>', '<f=x'])).toEqual([
      'a <f=x</f> b',
      '<f=x</f><f=y</f>',
    ]);
  });
});
