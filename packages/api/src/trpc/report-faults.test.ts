import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiError, toPublicError } from './errors.ts';
import { reportFaults } from './report-faults.ts';
import { createBearerProcedure, router } from './trpc.ts';

const procedure = createBearerProcedure({ credentials: { verifyBearer: async () => ({ keyId: 'k' }) } }).use(
  reportFaults,
);
const input = z.object({ id: z.string(), count: z.number() });
const caller = router({
  read: procedure
    .meta({ auth: 'bearer', errors: 'detail', openapi: { method: 'GET', path: '/things/{id}' } })
    .input(input)
    .query(() => 0),
  write: procedure
    .meta({ auth: 'bearer', errors: 'detail', openapi: { method: 'POST', path: '/things/{id}' } })
    .input(input)
    .mutation(() => {
      throw new ApiError('conflict', 'There is one already.');
    }),
}).createCaller({
  credentials: { kind: 'bearer', token: 't' },
  requestId: 'r',
  headers: {},
  signal: new AbortController().signal,
});

const publicErrorOf = async (call: Promise<unknown>) =>
  toPublicError(await call.catch((error: unknown) => error), 'r');

describe('reportFaults', () => {
  it('tells every fault with the place that its field comes from', async () => {
    const wrong = { count: 'x' } as never;
    const missing = { msg: 'Field required', type: 'missing' };
    const read = await publicErrorOf(caller.read(wrong));
    expect(read).toMatchObject({ reason: 'invalid_input', status: 422 });
    expect(read.faults?.map(({ loc }) => loc)).toEqual([
      ['path', 'id'],
      ['query', 'count'],
    ]);
    const write = await publicErrorOf(caller.write(wrong));
    expect(write.faults?.[0]).toEqual({ loc: ['path', 'id'], ...missing });
    expect(write.faults?.[1]?.loc).toEqual(['body', 'count']);
  });

  it('leaves other failures as they are', async () => {
    const { reason, faults } = await publicErrorOf(caller.write({ id: 'a', count: 1 }));
    expect({ reason, faults }).toEqual({ reason: 'conflict', faults: undefined });
  });
});
