import { describe, expect, it } from 'vitest';
import { byteEngine } from '../../test/feed-text.ts';
import { larkJson, larkLiteral, larkRegex } from './write-lark.ts';

/** Whether the Lark expression matches the whole text, by llguidance itself. */
function matches(expression: string, text: string): boolean {
  const matcher = byteEngine.compile({ kind: 'lark', text: `start: ${expression}` });
  const isMatch = [...Buffer.from(text)].every(byte => matcher.accept(byte)) && matcher.canStop();
  matcher.dispose();
  return isMatch;
}

describe('Lark', () => {
  it.each(['a', '"', '\\', '\n\t', '/x/', '<|end|>', 'é😀', '\u0001', '\u007f\u0085', '// no comment'])(
    'has the literal %j as that text',
    text => {
      expect(matches(larkLiteral(text), text)).toBe(true);
      expect(matches(larkLiteral(text), `${text}x`)).toBe(false);
    },
  );

  it.each([
    ['a/b', 'a/b'],
    ['a\\/b', 'a/b'],
    ['a\nb', 'a\nb'],
    ['[/]+', '//'],
    ['a\\\\/', 'a\\/'],
  ])('has the regular expression %j between slashes', (pattern, text) => {
    expect(matches(larkRegex(pattern), text)).toBe(true);
    expect(matches(larkRegex(pattern), `${text}!`)).toBe(false);
  });

  it('embeds JSON Schemas', () => {
    expect(matches(larkJson({ enum: [1, 'a"b'] }), '"a\\"b"')).toBe(true);
    expect(matches(larkJson({ enum: [1, 'a"b'] }), '2')).toBe(false);
  });
});
