import { expect, it } from 'vitest';
import { NUMBER_LIMITS } from '../json-form.ts';
import { NumberLength } from './number-length.ts';

/** As much of a number as its limits allow. */
function allowedPart(number: string): string {
  const length = new NumberLength();
  length.start();
  let allowed = '';
  for (const character of number) {
    if (!length.push(character.charCodeAt(0), NUMBER_LIMITS, true)) break;
    length.restore(length.save());
    allowed += character;
  }
  return allowed;
}

it.each(['0', '-1.5', '1e5', '2E+280', '1e-07', '1e-280', '1.7976931348623157e005', '100000000000000000000'])(
  '%s is within the limits',
  number => expect(allowedPart(number)).toBe(number),
);

it.each([
  ['8.46e788', '8.46e78'],
  ['1e281', '1e28'],
  ['1e-0000', '1e-000'],
  ['12345678901234567890', '12345678901234567'],
])('%s is not', (number, part) => expect(allowedPart(number)).toBe(part));

it('the greatest number that the limits allow is a double', () => {
  expect(Number(allowedPart(`${'9'.repeat(17)}0000e280`))).toBeLessThan(Number.MAX_VALUE);
});
