// Errors of the front end: the fault and its place in the caller's schema, grammar or tag.

import { ConstraintError } from './errors.ts';

/** Throws: `invalid_constraint` naming the place inside the constraint, as a JSON pointer or a word. */
export function refuse(place: string, problem: string): never {
  const where = place === '' ? '' : ` (at ${place})`;
  throw new ConstraintError('invalid_constraint', `${problem}${where}.`);
}

/** Adds one step to a JSON pointer. */
export function pointer(base: string, ...steps: readonly (string | number)[]): string {
  return steps.reduce<string>(
    (path, step) => `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    base === '' ? '#' : base,
  );
}
