import { expect, it } from 'vitest';
import { JsonPageWriter } from './json-page.ts';

const columns = [
  { key: 'id', column: 'c0', form: 'text' },
  { key: 'payload', column: 'c1', form: 'json' },
] as const;
const rowOf = (id: string) => ({ c0: id, c1: '{"a":1.0}', s0: `after ${id}` });
const write = (maxBytes: number, ids: readonly string[]) => {
  const writer = new JsonPageWriter({ columns, maxBytes });
  for (const id of ids) if (!writer.add(rowOf(id))) break;
  const { text, ...rest } = writer.end();
  return { text: Buffer.from(text).toString(), ...rest };
};

it('copies the JSON of the database and keeps the cursor of the last row', () => {
  expect(write(1_000, ['a', 'ü'])).toEqual({
    text: '[{"id":"a","payload":{"a":1.0}},{"id":"ü","payload":{"a":1.0}}]',
    rowCount: 2,
    isCut: false,
    lastRow: { s0: 'after ü' },
  });
  expect(write(1_000, [])).toEqual({ text: '[]', rowCount: 0, isCut: false, lastRow: null });
});

it('ends before the row that exceeds its bytes, but never before the first', () => {
  const whole = Buffer.byteLength(write(1_000, ['a', 'b']).text) + 1;
  expect(write(whole, ['a', 'b'])).toMatchObject({ rowCount: 2, isCut: false });
  expect(write(whole - 1, ['a', 'b'])).toMatchObject({
    rowCount: 1,
    isCut: true,
    lastRow: { s0: 'after a' },
  });
  expect(write(1, ['a'])).toMatchObject({ rowCount: 1, isCut: false });
});
