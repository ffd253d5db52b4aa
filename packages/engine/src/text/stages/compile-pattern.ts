// Regular expressions of tokenizer.json, which are written for Oniguruma, as JavaScript's. What the two read differently is
// rewritten; what has no equal here is refused by name.
//
//   \s \S \d \D \w \W \h     Unicode's classes; JavaScript's count U+FEFF as white space and U+0085 not
//   .  ^  $                  lines end at \n only, and ^ and $ stand at every line
//   (?i:...)  (?i)           also letters that fold to the same one: the long s (U+017F) is an s
//   x?+ x*+ x++ (?>...)      atomic: what was matched is not given back
//   [[:alpha:]] [a&&[^b]]    named classes and intersections

import { caseForms, foldsToOtherLength } from './case-folding.ts';
import {
  CONTROLS,
  ESCAPED_CLASSES,
  escapeCharacter,
  escapeInClass,
  isSyntax,
  LONE_WORD,
  NAMED_CLASSES,
  propertyEscape,
} from './pattern-classes.ts';
import { PatternReader, refusePattern } from './pattern-reader.ts';
import { unsupported } from './stage.ts';

/** Throws: `model_invalid` naming what is not supported. */
export function compilePattern(source: string, flags: 'gv' | 'v' = 'gv'): RegExp {
  try {
    return new RegExp(new PatternTranslator(source).translate(), flags);
  } catch (error) {
    // What is nested too deeply, and what JavaScript does not take.
    if (error instanceof RangeError || error instanceof SyntaxError) throw refusePattern(source);
    throw error;
  }
}

/** A pattern that finds the text as it is. */
export function literalPattern(text: string): RegExp {
  return new RegExp([...text].map(escapeCharacter).join(''), 'gv');
}

class PatternTranslator {
  readonly #reader: PatternReader;
  #foldsCase = false;
  /** The character before, where case does not matter and it stands for itself. */
  #foldedBefore = '';
  #atomicCount = 0;

  constructor(source: string) {
    this.#reader = new PatternReader(source);
  }

  translate(): string {
    const pattern = this.#alternatives();
    if (!this.#reader.isAtEnd) throw this.#reader.refuse(')');
    return pattern;
  }

  /** Up to the end of the group, which is left ahead. */
  #alternatives(): string {
    const foldedOutside = this.#foldsCase;
    let pattern = '';
    while (!this.#reader.isAtEnd && !this.#reader.peek(')')) {
      if (this.#reader.skip('|')) pattern += '|';
      else pattern += this.#quantified(this.#atom());
    }
    this.#foldsCase = foldedOutside;
    return pattern;
  }

  #quantified(atom: string): string {
    const reader = this.#reader;
    const isQuantifier = () => ['?', '*', '+', '{'].some(each => reader.peek(each));
    let quantified = atom;
    while (isQuantifier()) {
      const isCount = reader.peek('{');
      const quantifier = isCount ? this.#counts() : reader.next();
      // After one number a question mark is another quantifier, as in Ruby.
      const isExact = isCount && !quantifier.includes(',');
      if (isExact && reader.skip('?')) quantified = `(?:${quantified}${quantifier})?`;
      else if (reader.skip('?')) quantified += `${quantifier}?`;
      // After a count a plus is another quantifier, as in Ruby.
      else if (!isCount && reader.skip('+')) quantified = this.#atomic(quantified + quantifier);
      else quantified += quantifier;
      // A quantifier of a quantifier needs a group of its own.
      if (isQuantifier()) quantified = `(?:${quantified})`;
    }
    return quantified;
  }

  #counts(): string {
    const found = this.#reader.take(/^\{(\d*)(,?)(\d*)\}/);
    if (found === null || (found[1] === '' && found[3] === ''))
      throw this.#reader.refuse('{ outside of a count');
    return `{${found[1] || '0'}${found[2]}${found[3]}}`;
  }

  #atomic(pattern: string): string {
    const name = `a${this.#atomicCount++}`;
    return `(?:(?=(?<${name}>${pattern}))\\k<${name}>)`;
  }

  #atom(): string {
    const before = this.#foldedBefore;
    this.#foldedBefore = '';
    const character = this.#reader.next();
    if (!isSyntax(character)) this.#foldedBefore = before;
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
        throw this.#reader.refuse(`${character} with nothing to repeat`);
      default:
        return this.#literal(character);
    }
  }

  #literal(character: string): string {
    if (!this.#foldsCase) return escapeCharacter(character);
    if (foldsToOtherLength(this.#foldedBefore, character))
      throw this.#reader.refuse(`${(this.#foldedBefore + character).toLowerCase()} without case`);
    this.#foldedBefore = character;
    const forms = caseForms(character);
    return forms.length === 1 ? escapeCharacter(forms[0]!) : `[${forms.map(escapeInClass).join('')}]`;
  }

  #group(): string {
    const reader = this.#reader;
    if (!reader.skip('?')) return this.#closed('(?:');
    if (reader.skip('>')) return this.#atomic(this.#closed('(?:'));
    for (const opening of [':', '=', '!', '<=', '<!'])
      if (reader.skip(opening)) return this.#closed(`(?${opening}`);
    if (/^<\p{L}/u.test(reader.ahead(2))) {
      // A name; nothing refers to it, because references are refused.
      reader.until('>');
      return this.#closed('(?:');
    }
    for (const isOn of [true, false]) {
      const flag = isOn ? 'i' : '-i';
      if (reader.skip(`${flag}:`)) {
        const outside = this.#foldsCase;
        this.#foldsCase = isOn;
        const group = this.#closed('(?:');
        this.#foldsCase = outside;
        return group;
      }
      if (reader.skip(`${flag})`)) {
        // Holds for the rest of the group around it, its alternatives included.
        this.#foldsCase = isOn;
        return `(?:${this.#alternatives()})`;
      }
    }
    throw reader.refuse(`(?${reader.ahead(1)}`);
  }

  #closed(opening: string): string {
    const pattern = `${opening}${this.#alternatives()})`;
    if (!this.#reader.skip(')')) throw this.#reader.refuse('a group without end');
    return pattern;
  }

  /** An escape outside of a class. */
  #escape(): string {
    const character = this.#reader.next();
    switch (character) {
      case 'A':
        return '(?:^)';
      case 'z':
        return '(?:$)';
      case 'Z':
        return '(?=\\n?$)';
      case 'b':
        return BORDER;
      case 'B':
        return `(?!${BORDER})`;
      case 'w':
        return `[${LONE_WORD}]`;
      case 'W':
        return `[^${LONE_WORD}]`;
      default:
        return this.#classEscape(character) ?? this.#literal(this.#characterEscape(character));
    }
  }

  /** A class that an escape stands for, in brackets; undefined for an escape that is a character. */
  #classEscape(character: string): string | undefined {
    const members = ESCAPED_CLASSES[character];
    if (members !== undefined) return `[${members}]`;
    const negated = ESCAPED_CLASSES[character.toLowerCase()];
    if (negated !== undefined) return `[^${negated}]`;
    return character === 'p' || character === 'P' ? this.#property(character) : undefined;
  }

  #property(letter: string): string {
    if (!this.#reader.skip('{')) throw this.#reader.refuse(`\\${letter} without braces`);
    const isNegated = (letter === 'P') !== this.#reader.skip('^');
    const name = this.#reader.until('}');
    const found = propertyEscape(name, isNegated);
    if (found === undefined) throw this.#reader.refuse(`\\${letter}{${name}}`);
    return found;
  }

  /** An escape that stands for one character. */
  #characterEscape(character: string): string {
    const control = CONTROLS[character];
    if (control !== undefined) return control;
    if (character === 'x' || character === 'u') {
      const code = character === 'u' ? /^([0-9a-fA-F]{4})/ : /^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))/;
      const found = this.#reader.take(code);
      if (found === null) throw this.#reader.refuse(`\\${character}${this.#reader.ahead(10)}`);
      return String.fromCodePoint(Number.parseInt(found[1] ?? found[2]!, 16));
    }
    // Back-references, \G, \K, \R, \X and others.
    if (/[0-9A-Za-z]/.test(character)) throw this.#reader.refuse(`\\${character}`);
    return character;
  }

  #class(): string {
    const negation = this.#reader.skip('^') ? '[^' : '[';
    let members = '';
    while (!this.#reader.peek(']') || members === '') {
      if (this.#reader.skip('&&')) {
        members = this.#intersection(members);
        break;
      }
      members += this.#member();
    }
    if (!this.#reader.skip(']')) throw this.#reader.refuse('a class without end');
    return `${negation}${members}]`;
  }

  /** The rest of a class behind `&&`. Each side is one class. */
  #intersection(left: string): string {
    const sides = [left];
    let members = '';
    while (!this.#reader.peek(']')) {
      if (this.#reader.skip('&&')) {
        sides.push(members);
        members = '';
      } else members += this.#member();
    }
    sides.push(members);
    return sides.map(side => `[${side}]`).join('&&');
  }

  /** One member of a class: a class inside of it, a range, or a character. */
  #member(): string {
    const reader = this.#reader;
    if (reader.skip('[:')) {
      const isNegated = reader.skip('^');
      const name = reader.until(':]');
      const named = NAMED_CLASSES[name];
      if (named === undefined) throw reader.refuse(`[:${name}:]`);
      return `[${isNegated ? '^' : ''}${named}]`;
    }
    if (reader.skip('[')) return this.#class();
    const first = this.#classCharacter();
    if (first.class !== undefined) return first.class;
    const isRange = reader.peek('-') && !reader.peek(']', 1) && reader.ahead(2).length > 1;
    if (!isRange) return this.#foldsCase ? foldedMembers([first.character]) : escapeInClass(first.character);
    reader.skip('-');
    const last = this.#classCharacter();
    if (last.class !== undefined) throw reader.refuse('a range that ends with a class');
    if (this.#foldsCase) return foldedRange(first.character, last.character);
    return `${escapeInClass(first.character)}-${escapeInClass(last.character)}`;
  }

  #classCharacter():
    | { readonly class: string; readonly character?: never }
    | { readonly class?: never; readonly character: string } {
    const character = this.#reader.next();
    if (character !== '\\') return { character };
    const escaped = this.#reader.next();
    const members = this.#classEscape(escaped);
    if (members !== undefined) return { class: members };
    return { character: escaped === 'b' ? '\b' : this.#characterEscape(escaped) };
  }
}

/** `\b`. */
const BORDER = `(?:(?<=[${LONE_WORD}])(?![${LONE_WORD}])|(?<![${LONE_WORD}])(?=[${LONE_WORD}]))`;
const FOLDED_RANGE_LIMIT = 128;

function foldedMembers(characters: readonly string[]): string {
  return [...new Set(characters.flatMap(caseForms))].map(escapeInClass).join('');
}

function foldedRange(first: string, last: string): string {
  const [from, to] = [first.codePointAt(0)!, last.codePointAt(0)!];
  if (to - from > FOLDED_RANGE_LIMIT)
    throw unsupported('regular expression', `${first}-${last} without case`, 'shorter ranges');
  return foldedMembers(
    Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => String.fromCodePoint(from + i)),
  );
}
