import { describe, expect, it } from 'vitest';
import { NUMBER_LIMITS } from '../json-form.ts';
import { toJsonForm, withStyle } from './json-style.ts';

const SHORT = { hasLongNumbers: false } as const;
const WHOLE = { coercesOneOf: false, extent: 'whole' } as const;
const PART = { coercesOneOf: false, extent: 'part' } as const;

describe('the style of a schema', () => {
  it('is not written where the matcher bounds the white space of a whole answer', () => {
    for (const style of [{}, { whitespace: 'bounded' }] as const)
      expect(withStyle({ type: 'null' }, style, WHOLE)).toEqual({ type: 'null' });
    expect(toJsonForm({}, SHORT)).toMatchObject({ layout: 'canonical' });
    expect(toJsonForm({ whitespace: 'bounded' }, SHORT)).toMatchObject({ layout: 'bounded' });
  });

  it('has a free layout where the grammar decides about white space', () => {
    expect(toJsonForm({ whitespace: 'none' }, SHORT)).toMatchObject({
      layout: 'free',
      guardsRepetition: true,
    });
    expect(toJsonForm({ whitespace: 'any', limitNumbers: false, guardRepetition: false }, SHORT)).toEqual({
      layout: 'free',
      numbers: null,
      guardsRepetition: false,
    });
  });

  it('limits no numbers of a schema that has longer ones', () => {
    expect(toJsonForm({}, SHORT).numbers).toEqual(NUMBER_LIMITS);
    expect(toJsonForm({}, { hasLongNumbers: true }).numbers).toBeNull();
  });

  it('bounds white space by separators inside a longer answer', () => {
    for (const [style, separator] of [
      [{}, /^,/],
      [{ whitespace: 'bounded' }, /.,/],
    ] as const) {
      const styled = withStyle({ type: 'null' }, style, PART) as Record<string, Record<string, unknown>>;
      expect(styled['x-guidance']).toMatchObject({ whitespace_flexible: false });
      expect(styled['x-guidance']!.item_separator).toMatch(separator);
    }
  });

  it('comes before the keywords of the schema, whose order llguidance keeps', () => {
    expect(Object.keys(withStyle({ type: 'null' }, { whitespace: 'none' }, WHOLE) as object)).toEqual([
      'x-guidance',
      'type',
    ]);
  });

  it('turns boolean schemas into objects that mean the same', () => {
    expect(withStyle(false, { whitespace: 'none' }, WHOLE)).toMatchObject({ not: {} });
    expect(Object.keys(withStyle(true, { whitespace: 'none' }, WHOLE) as object)).toEqual(['x-guidance']);
  });

  it('reads oneOf as anyOf on request', () => {
    expect(withStyle({}, {}, { ...WHOLE, coercesOneOf: true })).toEqual({
      'x-guidance': { coerce_one_of: true },
    });
  });

  it('narrows \\s in a white space pattern to the white space of JSON', () => {
    const { 'x-guidance': guidance } = withStyle({}, { whitespace: { pattern: '\\s{0,2}' } }, WHOLE) as {
      'x-guidance': { item_separator: string };
    };
    expect(guidance.item_separator).toBe('(?:[ \\t\\n\\r]{0,2}),(?:[ \\t\\n\\r]{0,2})');
  });

  it.each(['x', '[^a]', '\\d', '.', ' '.repeat(201)])('refuses the white space pattern %j', pattern => {
    expect(() => withStyle({}, { whitespace: { pattern } }, WHOLE)).toThrow(/may only match spaces/);
  });
});
