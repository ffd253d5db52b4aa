// Property names with escapes, kept away from the native parser. V8 (13.6 and 14.6: Node 24 and 26) reads some of them as another
// name: while it builds an object whose next name it expects, it compares that name with the text in which escapes are not decoded
// yet. After `{"a":1,"\\":2}` anywhere in the process, the second name of `{"a":1,"\n":2}` is read as `\`.
// Source: https://github.com/nodejs/node/issues/63785

import { findStringEnd, isName } from './json-strings.ts';

/** With the source text of numbers: the proposal JSON.parse source text access, which V8 has and TypeScript does not declare. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const json = JSON as unknown as { parse(text: string, reviver?: Reviver): unknown };

/** Stands for a name that JSON must escape, until the text is parsed; a number follows. Random, so that no other name begins with it. */
const MARK = `name ${Math.random()} `;

/** As `JSON.parse`. A reviver gets values; some names that it gets are marks. */
export function parseNatively(text: string, reviver?: Reviver): unknown {
  const escaped = text.includes('\\') ? findEscapedNames(text) : [];
  if (escaped.length === 0) return json.parse(text, reviver);
  const marks = new Map<string, string>();
  const parts: string[] = [];
  let read = 0;
  for (const { start, end } of escaped) {
    // A string by itself is parsed correctly. Throws for one that is not JSON.
    const name = JSON.parse(text.slice(start, end)) as string;
    parts.push(text.slice(read, start), withoutEscapes(name, marks));
    read = end;
  }
  parts.push(text.slice(read));
  const value = json.parse(parts.join(''), reviver);
  if (marks.size === 0) return value;
  restoreNames(value, new Map([...marks].map(([name, mark]) => [mark, name])));
  return value;
}

/** The name in quotes, or a mark for it. Mutates: `marks`, by name. */
function withoutEscapes(name: string, marks: Map<string, string>): string {
  const written = JSON.stringify(name);
  if (!written.includes('\\')) return written;
  const mark = marks.get(name) ?? `${MARK}${marks.size}`;
  marks.set(name, mark);
  return `"${mark}"`;
}

/** Places of names with escapes, quotes included. */
function findEscapedNames(text: string): { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  let backslash = text.indexOf('\\');
  for (let start = text.indexOf('"'); start !== -1 && backslash !== -1; ) {
    const end = findStringEnd(text, start) + 1;
    if (backslash < start) backslash = text.indexOf('\\', start);
    if (backslash !== -1 && backslash < end && isName(text, end)) found.push({ start, end });
    start = text.indexOf('"', end);
  }
  return found;
}

/** Mutates: every object in `root` that has marks. */
function restoreNames(root: unknown, nameOf: ReadonlyMap<string, string>): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) restoreNamesOf(value as Record<string, unknown>, nameOf);
    for (const child of Object.values(value)) open.push(child);
  }
}

/** Sets all properties again, because a name keeps its place among the others. */
function restoreNamesOf(object: Record<string, unknown>, nameOf: ReadonlyMap<string, string>): void {
  const entries = Object.entries(object);
  if (!entries.some(([key]) => nameOf.has(key))) return;
  for (const [key] of entries) delete object[key];
  for (const [key, value] of entries)
    Object.defineProperty(object, nameOf.get(key) ?? key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}
