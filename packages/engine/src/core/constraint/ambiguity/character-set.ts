// Sets of characters as sorted ranges of code points: what two parts of a pattern have in common.

/** Ranges of code points, both ends included, sorted, and none touching the next. */
export type CharacterSet = readonly (readonly [first: number, last: number])[];

const LAST_CODE_POINT = 0x10ffff;
/** Letters of ASCII lie this far from their other case. */
const CASE_DISTANCE = 0x20;

export const ANY_CHARACTER: CharacterSet = [[0, LAST_CODE_POINT]];

export function setOf(...ranges: readonly (readonly [first: number, last: number])[]): CharacterSet {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** The set of the characters of a text. */
export function setOfText(text: string): CharacterSet {
  return setOf(
    ...[...text].map(character => [character.codePointAt(0)!, character.codePointAt(0)!] as const),
  );
}

export function complement(set: CharacterSet): CharacterSet {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) rest.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST_CODE_POINT) rest.push([next, LAST_CODE_POINT]);
  return rest;
}

export function union(...sets: readonly CharacterSet[]): CharacterSet {
  return setOf(...sets.flat());
}

export function intersection(a: CharacterSet, b: CharacterSet): CharacterSet {
  return complement(union(complement(a), complement(b)));
}

export function overlap(a: CharacterSet, b: CharacterSet): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i]![1] < b[j]![0]) i++;
    else if (b[j]![1] < a[i]![0]) j++;
    else return true;
  }
  return false;
}

/** With the other case of its ASCII letters. Other letters stay alone: two of them may then be thought to differ. */
export function foldCase(set: CharacterSet): CharacterSet {
  const moved = (from: number, to: number, by: number) =>
    intersection(set, [[from, to]]).map(([first, last]) => [first + by, last + by] as const);
  return setOf(...set, ...moved(0x41, 0x5a, CASE_DISTANCE), ...moved(0x61, 0x7a, -CASE_DISTANCE));
}

const PROPERTIES = new Map<string, CharacterSet | null>();
/** Properties that are kept; there are some hundreds of them. */
const MOST_PROPERTIES = 64;
const BLOCK = 0x800;
const ASSIGNED_RANGES = [
  [0, 0xd800],
  [0xe000, 0x3_2800],
  [0xe_0000, 0xe_0800],
] as const;
/** What has no characters, or private ones only: all alike, so one is asked for each range. */
const PLAIN_RANGES = [
  [0x3_2800, 0xd_ffff],
  [0xe_0800, 0xe_ffff],
  [0xf_0000, LAST_CODE_POINT],
] as const;
let assigned: string | null = null;

/** The characters with a property of Unicode such as `L` or `Script=Greek`; null when there is no such property. */
export function setOfProperty(property: string): CharacterSet | null {
  const known = PROPERTIES.get(property);
  if (known !== undefined) return known;
  const set = findProperty(property);
  if (PROPERTIES.size >= MOST_PROPERTIES) PROPERTIES.clear();
  PROPERTIES.set(property, set);
  return set;
}

function findProperty(property: string): CharacterSet | null {
  let runs: RegExp;
  try {
    runs = new RegExp(`\\p{${property}}+`, 'gu');
  } catch {
    return null;
  }
  assigned ??= writeAssigned();
  const ranges = [...assigned.matchAll(runs)].map(([run]) => {
    const last = run.codePointAt(run.length - 2)!;
    return [run.codePointAt(0)!, last > 0xffff ? last : run.charCodeAt(run.length - 1)] as const;
  });
  return setOf(...ranges, ...PLAIN_RANGES.filter(([first]) => runs.test(restart(runs, first))));
}

/** Blocks of code points that Unicode may give properties of their own, apart from surrogates, which are no characters. */
function writeAssigned(): string {
  const parts: string[] = [];
  for (const [from, to] of ASSIGNED_RANGES)
    for (let block = from; block < to; block += BLOCK)
      parts.push(String.fromCodePoint(...Array.from({ length: BLOCK }, (_, i) => block + i)));
  return parts.join('');
}

/** Mutates: `runs`, which looks from the start again. */
function restart(runs: RegExp, code: number): string {
  runs.lastIndex = 0;
  return String.fromCodePoint(code);
}
