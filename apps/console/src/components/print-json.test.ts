import { expect, it } from 'vitest';
import { printJson } from './print-json.ts';

it('writes all digits of 64-bit integers, and texts of digits as texts', () => {
  expect(printJson({ id: 9007199254740993n, list: [-9007199254740993n, '9007199254740993'] })).toBe(
    '{"id":9007199254740993,"list":[-9007199254740993,"9007199254740993"]}',
  );
});
