import { afterAll, expect, it } from 'vitest';
import { createJsonSchemaChecker } from './json-schema-checker.ts';

const checker = createJsonSchemaChecker();
afterAll(() => checker.close());
const check = (schema: unknown) => checker.checkSchema(JSON.stringify(schema));
const violation = (schema: unknown, value: unknown) =>
  checker.findViolation(JSON.stringify(schema), JSON.stringify(value));

it('names the keyword that a value breaks, and where', async () => {
  const schema = {
    type: 'object',
    properties: { score: { type: 'number', maximum: 1 } },
    required: ['score'],
  };
  await check(schema);
  expect(await violation(schema, { score: 0.5 })).toBeNull();
  expect(await violation(schema, { score: 2 })).toMatchObject({ keyword: 'maximum', place: '#/score' });
  expect(await violation(schema, {})).toMatchObject({ keyword: 'required' });
});

it.each([{ type: 'nonsense' }, { $ref: 'https://example.org/schema.json' }, { minimum: 'x' }])(
  'refuses the schema %j',
  async schema => {
    await expect(check(schema)).rejects.toMatchObject({ code: 'invalid_constraint' });
  },
);

it('gives a hostile pattern up, and answers the next check', async () => {
  const slow = { pattern: '^(a|a)*$' };
  await expect(violation(slow, `${'a'.repeat(60)}b`)).rejects.toMatchObject({ code: 'invalid_constraint' });
  expect(await violation({ type: 'string' }, 'x')).toBeNull();
}, 60_000);

it('checks for one share while another has many slow checks', async () => {
  const crowded = createJsonSchemaChecker();
  const slow = JSON.stringify({ pattern: '^(a|a)*$' });
  const value = JSON.stringify(`${'a'.repeat(60)}b`);
  let slowCount = 0;
  const flood = Array.from({ length: 5 }, () =>
    crowded.findViolation(slow, value, 'flood').catch(() => {
      slowCount++;
    }),
  );
  expect(await crowded.findViolation('{"type":"string"}', '1', 'other')).toMatchObject({ keyword: 'type' });
  // The one that ran, or had its turn before.
  expect(slowCount).toBeLessThanOrEqual(2);
  await crowded.close();
  await Promise.all(flood);
}, 60_000);
