import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { checkFinishedText } from './check-finished-text.ts';

function allowed(jsonSchema: object, texts: readonly string[], strict = false): readonly string[] {
  const prepared = prepare({ jsonSchema, strict } as never);
  return texts.filter(text => allows(prepared, text));
}

const integers = ['-20', '-10', '-7', '-5', '0', '3', '10'];
const cents = ['-1', '-0.99', '-0.075', '-0.07', '0', '0.075', '0.99'];

describe('negative multiples', () => {
  it.each([
    [{ type: 'integer', multipleOf: 5, minimum: -10, maximum: 10 }, integers, ['-10', '-5', '0', '10']],
    [{ type: 'integer', multipleOf: 5, minimum: -20, maximum: -7 }, integers, ['-20', '-10']],
    [{ type: 'number', multipleOf: 0.01, exclusiveMinimum: -1 }, cents, ['-0.99', '-0.07', '0', '0.99']],
    [{ type: 'number', multipleOf: 1 }, [...integers, ...cents], [...integers, '-1', '0']],
    [{ type: 'integer', multipleOf: 0.5, maximum: 3 }, integers, integers.slice(0, -1)],
    [{ enum: [-5, 3, 10], multipleOf: 5 }, integers, ['-5', '10']],
    [{ multipleOf: 5, minimum: -5 }, ['-5', '-4', '"a"', 'null', '[]'], ['-5', '"a"', 'null', '[]']],
  ])('of %j are exact', (schema, texts, expected) => {
    expect(allowed(schema, texts)).toEqual(expected);
    expect(allowed(schema, texts, true)).toEqual(expected);
    expect(prepare({ jsonSchema: schema } as never).check).toBeNull();
  });

  it('without an end are checked in the finished text', () => {
    const prepared = prepare({ jsonSchema: { type: 'number', multipleOf: 0.01 } });
    for (const text of ['-5.25', '-1000000', '5.25']) expect(allows(prepared, text), text).toBe(true);
    expect(allows(prepared, '5.255')).toBe(false);
    checkFinishedText(prepared.check!, '-5.25');
    expect(() => checkFinishedText(prepared.check!, '-5.255')).toThrow(/multipleOf/);
  });

  it('without an end are not written under strict', () => {
    expect(allowed({ type: 'integer', multipleOf: 5 }, ['-5', '0', '5'], true)).toEqual(['0', '5']);
  });

  it('satisfy a schema that allows no others', () => {
    expect(allowed({ type: 'integer', multipleOf: 5, maximum: -1 }, ['-5', '0', '5'])).toEqual(['-5']);
    expect(() => prepare({ jsonSchema: { const: -4, multipleOf: 5 } })).toThrow();
  });
});
