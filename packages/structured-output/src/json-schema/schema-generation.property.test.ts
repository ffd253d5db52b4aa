// Random schemas, a random model over the demo vocabulary: what it finishes is valid for an independent validator, and
// what is cut off is the beginning of JSON. All of it is in its layout, with numbers of limited length.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { isCanonical } from '../../test/canonical-layout.ts';
import { prepare } from '../../test/feed-text.ts';
import { judge } from '../../test/independent-validator.ts';
import { isJsonPrefix } from '../../test/json-prefix.ts';
import { generate } from '../../test/random-generation.ts';
import { ConstraintError } from '../errors.ts';
import { checkFinishedText } from './check-finished-text.ts';

const bounds = (low: string, high: string, scale = 1) =>
  fc.tuple(fc.integer({ min: -20, max: 20 }), fc.nat(30)).map(([from, more]) => ({
    [low]: from * scale,
    [high]: (from + more) * scale,
  }));
const counts = (low: string, high: string) =>
  fc.tuple(fc.nat(2), fc.nat(3)).map(([least, more]) => ({ [low]: least, [high]: least + more }));
const names = fc.constantFrom('a', 'b', 'name', 'é', 'x y', 'constructor');
const PATTERNS = [
  '^[a-z]{1,3}$',
  'b',
  '^\\d+-\\w$',
  '^(?:ab|c)*$',
  '^[^"\\\\]{2}$',
  '\\s',
  '^a$|^bc$',
  '^.é?$',
];
const FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'uri',
  'json-pointer',
];

/** `unenforced` schemas have keywords that only the check at the end knows. */
const schemas = (hasUnenforced: boolean) =>
  fc.letrec<{ schema: object }>(tie => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(
        { type: 'boolean' },
        { type: ['null', 'integer'] },
        { const: { k: [1, 'é"'] } },
        { enum: ['x', 2, null, [3]] },
      ),
      bounds('minimum', 'maximum').map(range => ({ type: 'integer', ...range })),
      bounds('exclusiveMinimum', 'maximum', 0.5).map(range => ({
        type: 'number',
        ...range,
        maximum: range.maximum! + 1,
      })),
      fc.constantFrom(
        { type: 'integer', multipleOf: 3, minimum: 0, maximum: 99 },
        { type: 'number', multipleOf: 0.25, minimum: -2, maximum: 2 },
      ),
      fc.constantFrom({ type: 'integer' }, { type: 'number' }, { type: 'string' }),
      fc.constant({ type: 'integer', minimum: 0 }),
      counts('minLength', 'maxLength').map(range => ({ type: 'string', ...range })),
      fc.constantFrom(...PATTERNS).map(pattern => ({ type: 'string', pattern, maxLength: 12 })),
      fc.constantFrom(...FORMATS).map(format => ({ type: 'string', format })),
      fc
        .tuple(tie('schema'), counts('minItems', 'maxItems'))
        .map(([items, range]) => ({ type: 'array', items, ...range })),
      fc
        .tuple(tie('schema'), tie('schema'))
        .map(([a, b]) => ({ type: 'array', prefixItems: [a, b], items: false })),
      fc
        .record({
          type: fc.constant('object'),
          properties: fc.dictionary(names, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
          required: fc.uniqueArray(fc.constantFrom('a', 'name', 'z'), { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.constant(false), tie('schema')),
        })
        .map(schema =>
          schema.additionalProperties === false
            ? { ...schema, required: schema.required.filter(name => Object.hasOwn(schema.properties, name)) }
            : schema,
        ),
      fc.tuple(tie('schema'), tie('schema')).map(anyOf => ({ anyOf })),
      fc.tuple(tie('schema'), names).map(([value, name]) => ({
        type: 'object',
        patternProperties: { '^k': value },
        properties: { [name]: value },
        additionalProperties: false,
      })),
      fc.constant({
        type: 'object',
        properties: { a: { type: 'null' }, b: { type: 'null' } },
        dependentRequired: { a: ['b'] },
        additionalProperties: false,
      }),
      fc.constant({
        type: 'object',
        propertyNames: { enum: ['p', 'q'] },
        additionalProperties: { type: 'boolean' },
        maxProperties: 2,
      }),
      ...(hasUnenforced
        ? [
            tie('schema').map(not => ({ type: 'integer', minimum: 0, maximum: 9, not })),
            tie('schema').map(items => ({ type: 'array', items, maxItems: 3, uniqueItems: true })),
            fc.tuple(tie('schema'), tie('schema')).map(oneOf => ({ oneOf })),
            fc
              .tuple(tie('schema'), tie('schema'))
              .map(([contains, items]) => ({ type: 'array', items, contains, maxItems: 3 })),
          ]
        : []),
    ),
  })).schema;

/** Numbers outside strings. */
function numbersOf(text: string): readonly string[] {
  return text.replace(/"(?:[^"\\]|\\.)*("|$)/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];
}

function isOfLimitedLength(number: string): boolean {
  const [mantissa = '', exponent = ''] = number.toLowerCase().split('e');
  const [whole = '', fraction] = mantissa.replace('-', '').split('.');
  if (exponent.replace(/[+-]/, '').length > 3) return false;
  if (fraction === undefined) return whole.length <= 19 || /^\d{17}0{0,4}$/.test(whole);
  return `${whole}${fraction}`.replace(/^0{1,7}/, '').length <= 17;
}

const WHITESPACE = [undefined, 'any', 'none', { pattern: '[ \\n]{0,2}' }] as const;

/** Texts that were finished, cut off, and found wrong by the check at the end. */
function run(hasUnenforced: boolean, numRuns: number): { finished: number; cut: number; caught: number } {
  const seen = { finished: 0, cut: 0, caught: 0 };
  fc.assert(
    fc.property(
      schemas(hasUnenforced),
      fc.nat(),
      fc.constantFrom(...WHITESPACE),
      (schema, seed, whitespace) => {
        const style = whitespace === undefined ? {} : { style: { whitespace } };
        const strict = !hasUnenforced;
        let prepared: ReturnType<typeof prepare>;
        try {
          prepared = prepare({ jsonSchema: schema, strict, ...style });
        } catch (error) {
          // A random schema may be one that nothing satisfies.
          expect((error as Error).message).toMatch(/Nothing satisfies|Unsatisfiable|unsatisfiable|empty/i);
          return;
        }
        const { text, isFinished } = generate(prepared.grammar, seed, 60);
        if (whitespace === undefined) expect(isCanonical(text), text).toBe(true);
        for (const number of numbersOf(text)) expect(isOfLimitedLength(number), number).toBe(true);
        if (!isFinished) {
          seen.cut++;
          expect(isJsonPrefix(text), text).toBe(true);
          return;
        }
        try {
          if (prepared.check !== null) checkFinishedText(prepared.check, text);
        } catch (error) {
          expect(error).toBeInstanceOf(ConstraintError);
          expect(judge(schema, JSON.parse(text)).isValid, `ajv allows ${text}`).toBe(false);
          seen.caught++;
          return;
        }
        seen.finished++;
        const { isValid, reason } = judge(schema, JSON.parse(text));
        expect(isValid, `${text}: ${reason}`).toBe(true);
      },
    ),
    { numRuns },
  );
  return seen;
}

const RUNS = runs({ daily: 40, full: 40 });

describe('texts generated under random schemas', () => {
  it('are valid whenever they are finished', { timeout: 600_000 }, () => {
    const { finished, caught } = run(false, RUNS);
    expect(caught).toBe(0);
    expect(finished).toBeGreaterThan(RUNS / 3);
  });

  it('are valid or caught at the end where keywords cannot be enforced', { timeout: 600_000 }, () => {
    expect(run(true, RUNS).finished).toBeGreaterThan(RUNS / 4);
  });
});
