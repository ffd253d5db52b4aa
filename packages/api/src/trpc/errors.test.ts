import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiError, ERROR_TABLE, toPublicError } from './errors.ts';

describe('toPublicError', () => {
  it.each(Object.entries(ERROR_TABLE))('gives %s the status and type of its row', (reason, row) => {
    const known = toPublicError(new ApiError(reason as keyof typeof ERROR_TABLE, 'text'), 'id-1');
    expect(known).toMatchObject({ reason, status: row.status, type: row.type });
  });

  it('hides what went wrong inside and names the request id', () => {
    for (const error of [new Error('secret path'), new ApiError('internal', 'secret'), 'secret', undefined]) {
      const known = toPublicError(error, 'id-7');
      expect(known.status).toBe(500);
      expect(known.message).toContain('id-7');
      expect(known.message).not.toContain('secret');
    }
  });

  it('lists every fault of a body and names the first field', () => {
    const body = { a: 1 };
    const { error } = z.object({ a: z.string(), b: z.string() }).safeParse(body);
    const known = toPublicError(new TRPCError({ code: 'BAD_REQUEST', cause: error }), 'id', body);
    expect(known).toMatchObject({ status: 400, type: 'Bad Request', param: 'a' });
    expect(known.message).toContain('a: Input should be a valid string');
    expect(known.message).toContain('b: Field required');
  });

  it.each([
    ['NOT_FOUND', 404],
    ['PARSE_ERROR', 400],
    ['UNSUPPORTED_MEDIA_TYPE', 400],
    ['METHOD_NOT_SUPPORTED', 405],
    ['PAYLOAD_TOO_LARGE', 413],
    ['NOT_IMPLEMENTED', 500],
  ] as const)('gives the %s of tRPC itself the status %i', (code, status) => {
    expect(toPublicError(new TRPCError({ code }), 'id').status).toBe(status);
  });

  it('keeps the field and the waiting time of a refusal', () => {
    const error = new ApiError('overloaded', 'Busy.', { param: 'model', retryAfterMs: 1500 });
    expect(toPublicError(error, 'id')).toMatchObject({
      param: 'model',
      retryAfterMs: 1500,
      message: 'Busy.',
    });
  });
});
