// Values of arguments that are numbers. For commander, which reports what they throw beside the name of the argument.

import { InvalidArgumentError } from 'commander';

/** Throws: `InvalidArgumentError`. */
export function toNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

/** Throws: `InvalidArgumentError`. */
export function toPositiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

/** Zero included. Throws: `InvalidArgumentError`. */
export function toCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
