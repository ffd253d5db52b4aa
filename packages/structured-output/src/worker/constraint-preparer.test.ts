// Preparing constraints in the worker that can be killed: what it answers, and that hostile ones end within the limit.

import { afterAll, describe, expect, it } from 'vitest';
import type { ConstraintSpec } from '../constraint-spec.ts';
import { ConstraintPreparer } from './constraint-preparer.ts';

const preparer = new ConstraintPreparer({ specialTokens: [{ id: 3, name: '<|call|>' }] });
afterAll(() => preparer.close());

const schema = (value: unknown): ConstraintSpec => ({ jsonSchema: value });

function nested(depth: number): string {
  return `${'{"type":"object","properties":{"a":'.repeat(depth)}{}${'}}'.repeat(depth)}`;
}

const HOSTILE: readonly (readonly [string, ConstraintSpec, RegExp])[] = [
  [
    'an enum of 100,000 values',
    schema({ enum: Array.from({ length: 100_000 }, (_, i) => `v${i}`) }),
    /bytes/,
  ],
  [
    'an enum of 20,000 short values',
    schema({ enum: Array.from({ length: 20_000 }, (_, i) => i) }),
    /10000 values/,
  ],
  [
    'an object with 700 optional properties',
    schema({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`p${i}`, { type: 'null' }])),
    }),
    /more than 2000 ways/,
  ],
  [
    'a Lark grammar of 3,000 texts with one beginning',
    { grammar: `start: ${Array.from({ length: 3_000 }, (_, i) => `"x${i}"`).join(' | ')}` },
    /more than 2000 ways/,
  ],
  ['127 levels of nesting', schema(nested(127)), /nested deeper/],
  ['100,000 levels of nesting', schema(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), /./],
  ['a schema of a megabyte', schema({ description: 'x'.repeat(2 ** 20) }), /262144 that are allowed/],
  ['a reference to itself', schema({ $ref: '#' }), /refers to itself/],
  [
    'two references to each other',
    schema({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } }),
    /refers to itself/,
  ],
  [
    '20,000 chained rules',
    { grammar: Array.from({ length: 20_000 }, (_, i) => `r${i}: r${i + 1}`).join('\n') },
    /bytes|rules at most/,
  ],
  [
    '5,000 chained EBNF rules',
    {
      grammar: `root ::= r0\n${Array.from({ length: 5_000 }, (_, i) => `r${i} ::= r${i + 1}`).join('\n')}\nr5000 ::= "x"`,
    },
    /rules/,
  ],
  ['a grammar of brackets', { grammar: `root ::= ${'('.repeat(100_000)}` }, /nested deeper/],
  ['a Lark grammar of brackets', { grammar: `start: ${'('.repeat(200_000)}` }, /./],
  ['a rule that never ends', { grammar: 'root ::= root' }, /Nothing satisfies/],
  ['a long look-ahead', { regex: '(?=a)b' }, /Look-ahead/],
  ['a back-reference', { regex: '(a)\\1' }, /Back-references/],
  ['a pattern of 100 kB', schema({ pattern: 'a?'.repeat(50_000) }), /16384 bytes/],
  [
    'repetitions inside repetitions',
    { regex: '(((a{1,1000}){1,1000}){1,1000}){1,1000}' },
    /1000000000000 characters; 20000 are allowed \(at regex\)/,
  ],
  ['an unknown place', schema({ $ref: '#/nowhere' }), /points to nothing/],
  ['another document', schema({ $ref: 'https://example.org/schema' }), /points to nothing/],
];

describe('ConstraintPreparer', () => {
  it.each(HOSTILE)('refuses %s within its limit', { timeout: 20_000 }, async (_name, spec, message) => {
    const refusal = await preparer.prepare(spec).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ code: 'invalid_constraint' });
    expect((refusal as Error).message).toMatch(message);
  });

  it('serves patterns on which a backtracking matcher takes exponential time', async () => {
    const specs: ConstraintSpec[] = ['(x+x+)+y', '(a|a)*b', '(.*a.{20})b'].map(pattern => ({
      regex: pattern,
    }));
    for (const spec of [...specs, schema({ properties: { a: { pattern: '^(a+)+$' } } })])
      expect(await preparer.prepare(spec)).toMatchObject({ check: null });
  });

  it('kills a preparation that takes too long, and goes on with the next', { timeout: 30_000 }, async () => {
    const short = new ConstraintPreparer({ specialTokens: [], timeLimitMs: 5 });
    const heavy = Array.from({ length: 3_000 }, (_, i) => [`p${i}`, { type: 'string', minLength: i }]);
    const spec = schema({
      type: 'object',
      properties: Object.fromEntries(heavy),
      required: heavy.map(([name]) => name),
    });
    await expect(short.prepare(spec)).rejects.toMatchObject({ code: 'invalid_constraint' });
    await short.close();
    expect(await preparer.prepare(schema({ type: 'integer' }))).toMatchObject({ check: null });
  });

  it('prepares equal constraints once', async () => {
    const first = await preparer.prepare(schema({ type: 'array', items: { type: 'null' } }));
    expect(await preparer.prepare(schema({ type: 'array', items: { type: 'null' } }))).toBe(first);
    expect(await preparer.prepare(schema({ items: { type: 'null' }, type: 'array' }))).not.toBe(first);
  });

  it('checks a finished text where the grammar does not say everything', async () => {
    const prepared = await preparer.prepare(
      schema({ type: 'array', items: { type: 'integer' }, uniqueItems: true }),
    );
    await expect(preparer.check(prepared, '[1,2]')).resolves.toBeUndefined();
    const broken = preparer.check(prepared, '[1,1]');
    await expect(broken).rejects.toMatchObject({ code: 'unsatisfied' });
    await expect(broken).rejects.toThrow('uniqueItems');
  });

  it('prepares and checks for a share although another one fills its part of the queue', async () => {
    const crowded = new ConstraintPreparer({ specialTokens: [] });
    const list = await crowded.prepare(schema({ type: 'array', uniqueItems: true }));
    const ended: string[] = [];
    const task = async (name: string, work: Promise<unknown>): Promise<void> => {
      await work;
      ended.push(name);
    };
    const leaving = new AbortController();
    // One of them runs at once; the rest fills the part of the queue.
    const flood = Array.from({ length: 193 }, (_, i) =>
      crowded.prepare(schema({ const: i }), leaving.signal, 'flood').then(
        () => ended.push('flood'),
        () => undefined,
      ),
    );
    await expect(crowded.prepare(schema({ const: -1 }), undefined, 'flood')).rejects.toMatchObject({
      code: 'overloaded',
    });
    await Promise.all([
      task('prepare', crowded.prepare(schema({ type: 'null' }), undefined, 'other')),
      task('check', crowded.check(list, '[1]', undefined, 'other')),
    ]);
    // Turns: the one that runs, then one of each share.
    expect(ended.filter(name => name === 'flood').length).toBeLessThanOrEqual(3);
    expect(ended.at(-1)).toBe('check');
    leaving.abort();
    await Promise.all(flood);
    await crowded.close();
  });

  it('names the keyword and its place when every keyword must be enforced', async () => {
    const spec = {
      strict: true,
      jsonSchema: { properties: { a: { not: { type: 'null' } } } },
    };
    await expect(preparer.prepare(spec)).rejects.toThrow(/keyword not .*#\/properties\/a\/not/);
  });

  it('names special tokens in structural tags', async () => {
    const format = { type: 'tag', begin: '<|call|>', content: { type: 'any_text' }, end: '!' };
    const prepared = await preparer.prepare({ structuralTag: { format } });
    expect(prepared.grammar.text).toContain('<[3]>');
  });
});
