import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readDateTime } from './date-time.ts';

const moments = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
});

it('the canonical text of every moment reads as itself', () => {
  fc.assert(
    fc.property(moments, moment => {
      expect(readDateTime(moment.toISOString())).toBe(moment.toISOString());
    }),
  );
});

it('an offset moves the moment and nothing else', () => {
  const offsets = fc.record({ sign: fc.constantFrom('+', '-'), hour: fc.nat(23), minute: fc.nat(59) });
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date('9000-01-01'), noInvalidDate: true }),
      offsets,
      (moment, offset) => {
        const twoDigits = (value: number) => String(value).padStart(2, '0');
        const text = moment
          .toISOString()
          .replace('Z', `${offset.sign}${twoDigits(offset.hour)}:${twoDigits(offset.minute)}`);
        const shiftMs = (offset.sign === '+' ? -1 : 1) * (offset.hour * 60 + offset.minute) * 60_000;
        expect(readDateTime(text)).toBe(new Date(moment.getTime() + shiftMs).toISOString());
      },
    ),
  );
});

it('any text gives a moment or a reason, never an exception', () => {
  const pieces = fc.constantFrom(
    '2026',
    '-',
    '01',
    '31',
    'T',
    ' ',
    '12',
    ':',
    '.',
    '5',
    'Z',
    '+',
    'x',
    '9999',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), parts => {
      const result = readDateTime(parts.join(''));
      if (typeof result === 'string') expect(new Date(result).toISOString()).toBe(result);
      else expect(result.type).toMatch(/^datetime_/);
    }),
  );
});
