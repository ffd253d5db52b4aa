// Regular expressions of tokenizer.json, which are written for Oniguruma, as JavaScript's. What the two read differently is
// rewritten; what has no equal here is refused by name.
//
//   \s \S \d \D \w \W \h     Unicode's classes; JavaScript's count U+FEFF as white space and U+0085 not
//   .  ^  $                  lines end at \n only, and ^ and $ stand at every line
//   (?i:...)  (?i)           also letters that fold to the same one: the long s (U+017F) is an s
//   x?+ x*+ x++ (?>...)      atomic: what was matched is not given back
//   [[:alpha:]] [a&&[^b]]    named classes and intersections

import { unsupported } from './stage.ts';

const SUPPORTED = 'literals, classes, groups, look-around, quantifiers, alternatives, (?i:...)';
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
const CLASSES: Readonly<Record<string, string>> = {
  s: '\\p{White_Space}',
  d: '\\p{Nd}',
  w: WORD,
  h: '0-9a-fA-F',
};
/** Outside of brackets Oniguruma counts the numbers of Latin-1 that are not digits as parts of words, and no others. */
const LONE_WORD = `${WORD}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be`;
const NAMED_CLASSES: Readonly<Record<string, string>> = {
  alpha: '\\p{Alphabetic}',
  digit: '\\p{Nd}',
  alnum: '\\p{Alphabetic}\\p{Nd}',
  space: '\\p{White_Space}',
  upper: '\\p{Uppercase}',
  lower: '\\p{Lowercase}',
  punct: '\\p{P}\\p{S}',
  xdigit: '0-9a-fA-F',
  word: WORD,
};
/** Characters that must be escaped outside of a class, and inside of one, in JavaScript's `v` mode. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
const CLASS_SYNTAX = /[\\^()[\]{}|/\-&!#%,:;<=>@`~.$*+?]/;

/** Throws: `model_invalid` naming what is not supported. */
export function compilePattern(source: string, flags: 'gv' | 'v' = 'gv'): RegExp {
  const pattern = new PatternTranslator(source).translate();
  try {
    return new RegExp(pattern, flags);
  } catch {
    throw unsupported('regular expression', source, SUPPORTED);
  }
}

/** A pattern that finds the text as it is. */
export function literalPattern(text: string): RegExp {
  return new RegExp([...text].map(escapeCharacter).join(''), 'gv');
}

function escapeCharacter(character: string): string {
  return SYNTAX.test(character) ? `\\${character}` : character;
}

class PatternTranslator {
  readonly #source: string;
  readonly #characters: readonly string[];
  #at = 0;
  #foldsCase = false;
  /** The character before, where case does not matter and it stands for itself. */
  #foldedBefore = '';
  #atomicCount = 0;

  constructor(source: string) {
    this.#source = source;
    this.#characters = [...source];
  }

  translate(): string {
    const pattern = this.#alternatives();
    if (this.#at < this.#characters.length) throw this.#refuse(')');
    return pattern;
  }

  #peek(text: string): boolean {
    return [...text].every((character, i) => this.#characters[this.#at + i] === character);
  }

  #skip(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += [...text].length;
    return true;
  }

  #next(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.#refuse('an end in the middle');
    return character;
  }

  #refuse(found: string): Error {
    return unsupported('regular expression', this.#source, `${SUPPORTED}; not: ${found}`);
  }

  /** Up to the end of the group, which is left ahead. */
  #alternatives(): string {
    const foldedOutside = this.#foldsCase;
    let pattern = '';
    while (this.#at < this.#characters.length && !this.#peek(')')) {
      if (this.#skip('|')) pattern += '|';
      else pattern += this.#quantified(this.#atom());
    }
    this.#foldsCase = foldedOutside;
    return pattern;
  }

  #quantified(atom: string): string {
    let quantified = atom;
    for (;;) {
      let quantifier = '';
      if (this.#peek('?') || this.#peek('*') || this.#peek('+')) quantifier = this.#next();
      else if (this.#peek('{')) quantifier = this.#counts();
      if (quantifier === '') return quantified;
      const isCount = quantifier.startsWith('{');
      // After one number a question mark is another quantifier, as in Ruby.
      const isExact = isCount && !quantifier.includes(',');
      if (isExact && this.#skip('?')) quantified = `(?:${quantified}${quantifier})?`;
      else if (this.#skip('?')) quantified += `${quantifier}?`;
      // After a count a plus is another quantifier, as in Ruby.
      else if (!isCount && this.#skip('+')) quantified = this.#atomic(quantified + quantifier);
      else quantified += quantifier;
      // A quantifier of a quantifier needs a group of its own.
      if (this.#peek('?') || this.#peek('*') || this.#peek('+') || this.#peek('{'))
        quantified = `(?:${quantified})`;
    }
  }

  #counts(): string {
    const found = /^\{(\d*)(,?)(\d*)\}/.exec(this.#characters.slice(this.#at, this.#at + 16).join(''));
    if (found === null || (found[1] === '' && found[3] === '')) throw this.#refuse('{ outside of a count');
    this.#at += found[0].length;
    return `{${found[1] || '0'}${found[2]}${found[3]}}`;
  }

  #atomic(pattern: string): string {
    const name = `a${this.#atomicCount++}`;
    return `(?:(?=(?<${name}>${pattern}))\\k<${name}>)`;
  }

  #atom(): string {
    const before = this.#foldedBefore;
    this.#foldedBefore = '';
    const character = this.#next();
    if (!SYNTAX.test(character)) this.#foldedBefore = before;
    switch (character) {
      case '.':
        return '[^\\n]';
      // Negated look-around would also match between the two halves of a character.
      case '^':
        return '(?<=^|\\n)';
      case '$':
        return '(?=$|\\n)';
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw this.#refuse(`${character} with nothing to repeat`);
      default:
        return this.#literal(character);
    }
  }

  #literal(character: string): string {
    if (this.#foldsCase) this.#checkFolding(character);
    const forms = this.#foldsCase ? caseForms(character) : [character];
    return forms.length === 1 ? escapeCharacter(forms[0]!) : `[${forms.map(escapeInClass).join('')}]`;
  }

  /** Without case some texts equal one letter (`ss` and the sharp s), which a class of letters cannot say. */
  #checkFolding(character: string): void {
    const pair = (this.#foldedBefore + character).toLowerCase();
    const isLigature = LIGATURES.includes(pair) || character.toUpperCase().length > character.length;
    if (isLigature) throw this.#refuse(`${pair} without case`);
    this.#foldedBefore = character;
  }

  #group(): string {
    if (!this.#skip('?')) return this.#closed('(?:');
    if (this.#skip('>')) return this.#atomic(this.#closed('(?:'));
    for (const opening of [':', '=', '!', '<=', '<!'])
      if (this.#skip(opening)) return this.#closed(`(?${opening}`);
    if (/^<\p{L}/u.test(this.#characters.slice(this.#at, this.#at + 2).join(''))) {
      // A name; nothing refers to it, because references are refused.
      while (this.#next() !== '>');
      return this.#closed('(?:');
    }
    for (const isOn of [true, false]) {
      const flag = isOn ? 'i' : '-i';
      if (this.#skip(`${flag}:`)) {
        const outside = this.#foldsCase;
        this.#foldsCase = isOn;
        const group = this.#closed('(?:');
        this.#foldsCase = outside;
        return group;
      }
      if (this.#skip(`${flag})`)) {
        // Holds for the rest of the group around it, its alternatives included.
        this.#foldsCase = isOn;
        return `(?:${this.#alternatives()})`;
      }
    }
    throw this.#refuse(`(?${this.#characters[this.#at] ?? ''}`);
  }

  #closed(opening: string): string {
    const pattern = `${opening}${this.#alternatives()})`;
    if (!this.#skip(')')) throw this.#refuse('a group without end');
    return pattern;
  }

  /** An escape outside of a class. */
  #escape(): string {
    const character = this.#next();
    if (character === 'A') return '(?:^)';
    if (character === 'z') return '(?:$)';
    if (character === 'Z') return '(?=\\n?$)';
    if (character === 'b' || character === 'B') {
      const word = `[${LONE_WORD}]`;
      const border = `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
      return character === 'b' ? border : `(?!${border})`;
    }
    if (character === 'w') return `[${LONE_WORD}]`;
    if (character === 'W') return `[^${LONE_WORD}]`;
    const members = this.#classEscape(character);
    if (members !== undefined) return members;
    return this.#literal(this.#characterEscape(character));
  }

  /** A class that an escape stands for, in brackets; undefined for an escape that is a character. */
  #classEscape(character: string): string | undefined {
    const members = CLASSES[character];
    if (members !== undefined) return `[${members}]`;
    const negated = CLASSES[character.toLowerCase()];
    if (negated !== undefined) return `[^${negated}]`;
    return character === 'p' || character === 'P' ? this.#property(character) : undefined;
  }

  #property(letter: string): string {
    if (!this.#skip('{')) throw this.#refuse(`\\${letter} without braces`);
    let isNegated = letter === 'P';
    if (this.#skip('^')) isNegated = !isNegated;
    let name = '';
    while (!this.#skip('}')) name += this.#next();
    const letterEscape = isNegated ? '\\P' : '\\p';
    for (const property of [name, `Script=${name}`]) {
      try {
        new RegExp(`${letterEscape}{${property}}`, 'v');
        return `${letterEscape}{${property}}`;
      } catch {
        // The next name, or refused below.
      }
    }
    const lower = name.toLowerCase();
    // In braces the name is the one of the category, which has no symbols.
    const named = lower === 'punct' ? '\\p{P}' : NAMED_CLASSES[lower];
    if (named === undefined) throw this.#refuse(`\\${letter}{${name}}`);
    return `[${isNegated ? '^' : ''}${named}]`;
  }

  /** An escape that stands for one character. */
  #characterEscape(character: string): string {
    const controls: Readonly<Record<string, string>> = {
      n: '\n',
      r: '\r',
      t: '\t',
      f: '\f',
      v: '\v',
      a: '\x07',
      e: '\x1b',
    };
    const control = controls[character];
    if (control !== undefined) return control;
    if (character === 'x' || character === 'u') {
      const rest = this.#characters.slice(this.#at, this.#at + 10).join('');
      const found = (
        character === 'u' ? /^([0-9a-fA-F]{4})/ : /^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))/
      ).exec(rest);
      if (found === null) throw this.#refuse(`\\${character}${rest}`);
      this.#at += found[0].length;
      return String.fromCodePoint(Number.parseInt(found[1] ?? found[2]!, 16));
    }
    // Back-references, \G, \K, \R, \X and others.
    if (/[0-9A-Za-z]/.test(character)) throw this.#refuse(`\\${character}`);
    return character;
  }

  #class(): string {
    let members = this.#skip('^') ? '[^' : '[';
    let isFirst = true;
    while (!this.#peek(']') || isFirst) {
      if (this.#skip('&&')) {
        // Each side of && is one class.
        const negation = members.startsWith('[^') ? '[^' : '[';
        members = `${negation}[${members.slice(negation.length)}]&&${this.#intersected()}`;
        break;
      }
      members += this.#member();
      isFirst = false;
    }
    if (!this.#skip(']')) throw this.#refuse('a class without end');
    return `${members}]`;
  }

  #intersected(): string {
    let members = '';
    const sides: string[] = [];
    while (!this.#peek(']')) {
      if (this.#skip('&&')) {
        sides.push(`[${members}]`);
        members = '';
      } else members += this.#member();
    }
    sides.push(`[${members}]`);
    return sides.join('&&');
  }

  /** One member of a class: a class inside of it, a range, or a character. */
  #member(): string {
    if (this.#skip('[:')) {
      const isNegated = this.#skip('^');
      let name = '';
      while (!this.#skip(':]')) name += this.#next();
      const named = NAMED_CLASSES[name];
      if (named === undefined) throw this.#refuse(`[:${name}:]`);
      return `[${isNegated ? '^' : ''}${named}]`;
    }
    if (this.#skip('[')) return this.#class();
    const first = this.#classCharacter();
    if (first.class !== undefined) return first.class;
    const isRange =
      this.#peek('-') &&
      this.#characters[this.#at + 1] !== ']' &&
      this.#characters[this.#at + 1] !== undefined;
    if (!isRange) return this.#membersOf(first.character);
    this.#at++;
    const last = this.#classCharacter();
    if (last.class !== undefined) throw this.#refuse('a range that ends with a class');
    if (this.#foldsCase) return foldedRange(first.character, last.character);
    return `${escapeInClass(first.character)}-${escapeInClass(last.character)}`;
  }

  #membersOf(character: string): string {
    return (this.#foldsCase ? caseForms(character) : [character]).map(escapeInClass).join('');
  }

  #classCharacter():
    | { readonly class: string; readonly character?: never }
    | { readonly class?: never; readonly character: string } {
    const character = this.#next();
    if (character !== '\\') return { character };
    const escaped = this.#next();
    const members = this.#classEscape(escaped);
    if (members !== undefined) return { class: members };
    return { character: escaped === 'b' ? '\b' : this.#characterEscape(escaped) };
  }
}

function escapeInClass(character: string): string {
  return CLASS_SYNTAX.test(character) ? `\\${character}` : character;
}

/** Letters that are written as one. */
const LIGATURES: readonly string[] = ['ss', 'ff', 'fi', 'fl', 'st'];
/** Letters with case end below. */
const CASED_END = 0x1f000;

/** The characters that count as this one where case does not matter: the long s and the Kelvin sign are letters of ASCII. */
function caseForms(character: string): readonly string[] {
  if (!/\p{L}/u.test(character)) return [character];
  const isSame = new RegExp(`^${escapeCharacter(character)}$`, 'iv');
  const candidates = character <= 'z' ? ASCII_FORMS : Array.from({ length: CASED_END }, (_, code) => code);
  return candidates.map(code => String.fromCodePoint(code)).filter(each => isSame.test(each));
}

const ASCII_FORMS: readonly number[] = [...Array.from({ length: 128 }, (_, code) => code), 0x17f, 0x212a];
const FOLDED_RANGE_LIMIT = 128;

function foldedRange(first: string, last: string): string {
  const [from, to] = [first.codePointAt(0)!, last.codePointAt(0)!];
  if (to - from > FOLDED_RANGE_LIMIT)
    throw unsupported('regular expression', `${first}-${last} without case`, 'shorter ranges');
  const forms = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) =>
    caseForms(String.fromCodePoint(from + i)),
  );
  return [...new Set(forms.flat())].map(escapeInClass).join('');
}
