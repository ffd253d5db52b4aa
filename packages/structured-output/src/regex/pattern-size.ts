// The size of a regular expression with its counted repetitions expanded, and whether counted repetitions are nested: both
// predict the size of its automaton. Works on every notation that callers use: ECMA-262, Rust's, and roughly on those of
// grammars.

const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y;
const GROUP_START = /\((?:\?(?:<?[=!]|P?<[^>]*>|[A-Za-z-]*:))?/y;
const ESCAPE = /\\(?:[pPu]\{[^}]*\}|x\{[^}]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[\s\S]?)/y;

/** Characters and classes of the pattern with counted repetitions expanded. Unbounded repetitions count once. */
export function patternSize(pattern: string): number {
  /** Size before each open group. */
  const open: number[] = [];
  let size = 0;
  /** For the last character, class or group. */
  let last = 0;
  for (let at = 0; at < pattern.length; ) {
    const next = pattern[at]!;
    if (next === '(') {
      open.push(size);
      size = 0;
      last = 0;
      at += matchAt(GROUP_START, pattern, at)![0].length;
    } else if (next === ')') {
      last = size;
      size += open.pop() ?? 0;
      at++;
    } else if (next === '{') {
      const bounds = matchAt(BOUNDS, pattern, at);
      if (bounds === null) {
        size += last = 1;
        at++;
        continue;
      }
      const [text, low, comma, high] = bounds;
      const count = Math.max(1, Number(comma === undefined || high === '' ? low : high));
      size += last * (count - 1);
      last *= count;
      at += text.length;
    } else if ('*+?|^$'.includes(next)) {
      at++;
    } else {
      size += last = 1;
      at = next === '[' ? endOfClass(pattern, at) : next === '\\' ? at + lengthOfEscape(pattern, at) : at + 1;
    }
  }
  return open.reduce((sum, each) => sum + each, size);
}

/** Whether a counted repetition of variable length, such as `x{1,9}`, is inside another counted repetition. */
export function hasNestedCounts(pattern: string): boolean {
  /** For each open group: whether it holds a counted repetition of variable length. */
  const open: boolean[] = [];
  let hasCount = false;
  /** For the last character, class or group. */
  let last = false;
  for (let at = 0; at < pattern.length; ) {
    const next = pattern[at]!;
    if (next === '(') {
      open.push(hasCount);
      hasCount = last = false;
      at += matchAt(GROUP_START, pattern, at)![0].length;
    } else if (next === ')') {
      last = hasCount;
      hasCount = (open.pop() ?? false) || hasCount;
      at++;
    } else if (next === '{') {
      const bounds = matchAt(BOUNDS, pattern, at);
      at += bounds?.[0].length ?? 1;
      if (bounds === null) continue;
      const [, low, comma, high] = bounds;
      if (last && Math.max(Number(low), Number(high ?? 0)) > 1) return true;
      if (comma !== undefined && high !== '' && high !== low) hasCount = last = true;
    } else if ('*+?'.includes(next)) at++;
    else {
      last = false;
      at = next === '[' ? endOfClass(pattern, at) : next === '\\' ? at + lengthOfEscape(pattern, at) : at + 1;
    }
  }
  return false;
}

/** The place after the `]` of a class, which may hold classes. */
function endOfClass(pattern: string, start: number): number {
  let depth = 0;
  for (let at = start; at < pattern.length; ) {
    const next = pattern[at]!;
    if (next === '\\') {
      at += lengthOfEscape(pattern, at);
      continue;
    }
    if (next === '[') depth++;
    else if (next === ']' && --depth === 0) return at + 1;
    at++;
  }
  return pattern.length;
}

function lengthOfEscape(pattern: string, at: number): number {
  return matchAt(ESCAPE, pattern, at)![0].length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
