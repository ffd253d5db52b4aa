import { expect, it } from 'vitest';
import { newSpanContext, parseTraceparent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

it.each([
  [`00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
  [`cc-${TRACE}-${SPAN}-01-later`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-01-more`, undefined],
  [`ff-${TRACE}-${SPAN}-01`, undefined],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['nonsense', undefined],
  [undefined, undefined],
])('reads the traceparent %s', (header, context) => {
  expect(parseTraceparent(header)).toEqual(context);
});

it('keeps the trace of the caller and its decision, and begins others by their share', () => {
  const parent = { traceId: TRACE, spanId: SPAN, isSampled: false };
  expect(newSpanContext(parent, 1)).toMatchObject({ traceId: TRACE, isSampled: false });
  expect(newSpanContext(undefined, 1)).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    isSampled: true,
  });
  expect(newSpanContext(undefined, 0).isSampled).toBe(false);
});
