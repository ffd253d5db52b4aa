// Chooses the named dialect whose marks a chat template has.

import { NAMED_DIALECTS, type NamedDialect } from './named-dialects.ts';

/** Null where no dialect's marks are in the template. */
export function findNamedDialect(template: string): NamedDialect | null {
  const all: readonly NamedDialect[] = Object.values(NAMED_DIALECTS);
  return all.find(({ templateMarks }) => templateMarks.every(mark => template.includes(mark))) ?? null;
}
