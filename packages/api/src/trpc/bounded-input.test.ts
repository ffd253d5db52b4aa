import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { holdsMoreValues, MAX_FULLY_REPORTED_VALUES, refuseLargeFaultyInput } from './bounded-input.ts';
import { createBearerProcedure, router } from './trpc.ts';

const schema = z.object({ items: z.array(z.object({ text: z.union([z.string(), z.array(z.string())]) })) });
const procedure = createBearerProcedure({ credentials: { verifyBearer: async () => ({ keyId: 'k' }) } });
const caller = router({
  count: procedure
    .use(refuseLargeFaultyInput(schema))
    .input(schema)
    .query(({ input }) => input.items.length),
}).createCaller({
  credentials: { kind: 'bearer', token: 't' },
  requestId: 'r',
  headers: {},
  signal: new AbortController().signal,
});

async function faultsOf(input: unknown): Promise<readonly z.core.$ZodIssue[]> {
  const error: unknown = await caller.count(input as z.input<typeof schema>).catch(thrown => thrown);
  const { cause } = error as { readonly cause?: unknown };
  expect(cause).toBeInstanceOf(z.ZodError);
  return (cause as z.ZodError).issues;
}

describe('refuseLargeFaultyInput', () => {
  it('lets valid inputs of any size through', async () => {
    const items = new Array(MAX_FULLY_REPORTED_VALUES).fill({ text: 'a' });
    expect(await caller.count({ items })).toBe(MAX_FULLY_REPORTED_VALUES);
  });

  it('leaves all faults of a small input to the schema', async () => {
    expect(await faultsOf({ items: [{}, {}, {}] })).toHaveLength(3);
  });

  it('stops a large input at its first fault, also inside a union', async () => {
    const faulty = await faultsOf({ items: new Array(MAX_FULLY_REPORTED_VALUES).fill({}) });
    expect(faulty.map(({ path }) => path)).toEqual([['items', 0, 'text']]);
    const numbers = new Array(MAX_FULLY_REPORTED_VALUES).fill(1);
    expect(JSON.stringify(await faultsOf({ items: [{ text: numbers }] })).length).toBeLessThan(2_000);
  });
});

describe('holdsMoreValues', () => {
  it.each([
    [1, 1],
    [[], 1],
    [[1, 2], 3],
    [{ a: [1], b: { c: null } }, 5],
  ])('counts objects, lists and what they hold: %j', (value, count) => {
    expect(holdsMoreValues(value, count)).toBe(false);
    expect(holdsMoreValues(value, count - 1)).toBe(true);
  });
});
