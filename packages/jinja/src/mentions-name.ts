// Whether the body of a macro reads a name. A macro takes any number of arguments if it reads `varargs`, and any names if it
// reads `kwargs`.

import type { Statement } from './nodes.ts';

export function mentionsName(body: readonly Statement[], name: string): boolean {
  return body.some(statement => holdsName(statement, name));
}

/** The tree is plain data, so that its values are walked without knowing their kinds. */
function holdsName(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('kind' in value && value.kind === 'name' && 'name' in value && value.name === name) return true;
  return Object.values(value).some(inner => holdsName(inner, name));
}
