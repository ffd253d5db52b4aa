// The structure of a regular expression in JavaScript's syntax (flag `v`), as `compilePattern` writes it: what repeats, what is
// optional, and what follows. Classes and escapes are single characters here.

export type PatternNode =
  | { readonly kind: 'character' }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly of: PatternNode; readonly isBehind: boolean };

const ENDLESS = Number.POSITIVE_INFINITY;
const CHARACTER: PatternNode = { kind: 'character' };
const GROUP_START = /\((?:\?(?:(?<look>[=!]|<[=!])|:|<\w+>))?/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const ESCAPE = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<\w+>|[\s\S])/y;

/** `pattern` is valid. */
export function parsePattern(pattern: string): PatternNode {
  let at = 0;
  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at;
    const found = expression.exec(pattern);
    if (found !== null) at += found[0].length;
    return found;
  };

  const choice = (): PatternNode => {
    const options: PatternNode[] = [];
    let items: PatternNode[] = [];
    const endOption = () => {
      options.push(items.length === 1 ? items[0]! : { kind: 'sequence', items });
      items = [];
    };
    while (at < pattern.length && pattern[at] !== ')') {
      if (pattern[at] === '|') {
        at++;
        endOption();
      } else items.push(repeated(atom()));
    }
    endOption();
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  };

  const repeated = (of: PatternNode): PatternNode => {
    const found = take(QUANTIFIER);
    if (found === null) return of;
    const [, sign, from, comma, to] = found;
    if (sign === '?') return { kind: 'repeat', of, min: 0, max: 1 };
    if (sign !== undefined) return { kind: 'repeat', of, min: sign === '+' ? 1 : 0, max: ENDLESS };
    const min = Number(from);
    return { kind: 'repeat', of, min, max: comma === '' ? min : to === '' ? ENDLESS : Number(to) };
  };

  const atom = (): PatternNode => {
    const group = take(GROUP_START);
    if (group !== null) {
      const of = choice();
      at++;
      const look = group.groups?.look;
      return look === undefined ? of : { kind: 'look', of, isBehind: look.startsWith('<') };
    }
    if (pattern[at] === '[') skipClass();
    else if (take(ESCAPE) === null) {
      const isAnchor = pattern[at] === '^' || pattern[at] === '$';
      at += pattern.codePointAt(at)! > 0xffff ? 2 : 1;
      if (isAnchor) return { kind: 'look', of: CHARACTER, isBehind: false };
    }
    return CHARACTER;
  };

  const skipClass = (): void => {
    let depth = 0;
    do {
      if (take(ESCAPE) !== null) continue;
      if (pattern[at] === '[') depth++;
      else if (pattern[at] === ']') depth--;
      at++;
    } while (depth > 0);
  };

  return choice();
}
