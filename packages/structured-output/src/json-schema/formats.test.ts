// Formats of time: what is generated has an end and is read by Python; more is valid in a text that came otherwise.

import { expect, it } from 'vitest';
import { allows, begins, prepare } from '../../test/feed-text.ts';
import { checkFinishedText } from './check-finished-text.ts';

const ofFormat = (format: string) => ({ type: 'string', format });
const generates = (format: string, text: string) =>
  allows(prepare({ jsonSchema: ofFormat(format), strict: true }), JSON.stringify(text));
const isValid = (format: string, text: string) => {
  try {
    checkFinishedText(JSON.stringify(ofFormat(format)), JSON.stringify(text));
    return true;
  } catch {
    return false;
  }
};

it.each([
  ['date', '0001-01-01'],
  ['date', '0004-02-29'],
  ['date', '0400-02-29'],
  ['date', '2000-02-29'],
  ['date-time', '2024-02-29T23:59:60.123456789Z'],
  ['time', '12:34:56.000001+01:00'],
  ['duration', 'P999999999DT1H'],
])('%s %s is generated', (format, text) => {
  expect([generates(format, text), isValid(format, text)]).toEqual([true, true]);
});

it.each([
  ['date', '0000-01-01'],
  ['date', '0000-02-29'],
  ['date-time', '0000-01-01T00:00:00Z'],
  ['date-time', '2024-01-01T00:00:00.0000000000Z'],
  ['time', '12:34:56.0123456789Z'],
  ['duration', 'P1234567890D'],
])('%s %s is valid, and not generated', (format, text) => {
  expect([generates(format, text), isValid(format, text)]).toEqual([false, true]);
});

it.each([
  ['date', '1900-02-29'],
  ['date', '2023-02-29'],
  ['date-time', '2024-01-01T00:00:00'],
])('%s %s is neither', (format, text) => {
  expect([generates(format, text), isValid(format, text)]).toEqual([false, false]);
});

it.each([
  ['time', '"00:00:00.'],
  ['duration', '"P'],
])('a model that goes on with zeros in a %s is stopped', (format, start) => {
  const prepared = prepare({ jsonSchema: ofFormat(format), strict: true });
  expect(['0'.repeat(9), '0'.repeat(10)].map(zeros => begins(prepared, start + zeros))).toEqual([
    true,
    false,
  ]);
});
