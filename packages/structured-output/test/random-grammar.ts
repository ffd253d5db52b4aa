// Random EBNF grammars, and an independent reader of them that knows which texts are in the language.

import fc from 'fast-check';

/** A part of a rule. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly source: string; readonly pattern: RegExp }
  | { readonly kind: 'rule'; readonly index: number }
  | { readonly kind: 'all' | 'one'; readonly parts: readonly Part[] }
  | { readonly kind: 'many'; readonly part: Part; readonly least: number; readonly most: number };

export const RULE_COUNT = 3;
const texts = fc.constantFrom('a', 'b', 'ab', 'aba', '(', ')', 'é', '"', '\n', ' x', '\\');
const classes = fc.constantFrom(
  { kind: 'class' as const, source: '[a-c]', pattern: /^[a-c]$/u },
  { kind: 'class' as const, source: '[^a"\\n]', pattern: /^[^a"\n]$/u },
  { kind: 'class' as const, source: '[\\u00e0-\\u00ff\\]-]', pattern: /^[à-ÿ\]-]$/u },
);
const bounds = fc.constantFrom([0, 1], [0, Infinity], [1, Infinity], [1, 2]);

/** Rules of any form. */
const parts = fc.letrec<{ part: Part }>(tie => ({
  part: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts.map((text): Part => ({ kind: 'text', text })),
    classes,
    fc.nat(RULE_COUNT - 1).map((index): Part => ({ kind: 'rule', index })),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((list): Part => ({ kind: 'all', parts: list })),
    fc.array(tie('part'), { minLength: 2, maxLength: 3 }).map((list): Part => ({ kind: 'one', parts: list })),
    fc
      .tuple(tie('part'), bounds)
      .map(([part, [least, most]]): Part => ({ kind: 'many', part, least: least!, most: most! })),
  ),
})).part;

/** Rules as people write them: words, numbers and quoted texts between marks, some of which could be terminals. */
const words = fc.constantFrom<Part>(
  { kind: 'text', text: 'true' },
  { kind: 'text', text: 'tick' },
  { kind: 'text', text: '<=' },
  { kind: 'text', text: 'éà' },
  many({ kind: 'class', source: '[0-9]', pattern: /^[0-9]$/u }, 1),
  many({ kind: 'class', source: '[ \\n]', pattern: /^[ \n]$/u }, 0),
  many({ kind: 'class', source: '[a-z]', pattern: /^[a-z]$/u }, 1),
  many({ kind: 'class', source: '[à-é]', pattern: /^[à-é]$/u }, 1),
  all({ kind: 'text', text: '"' }, many({ kind: 'class', source: '[^"\\n]', pattern: /^[^"\n]$/u }, 0), {
    kind: 'text',
    text: '"',
  }),
  all(many({ kind: 'text', text: '-' }, 0), many({ kind: 'class', source: '[0-9]', pattern: /^[0-9]$/u }, 1)),
);
const marks = fc
  .constantFrom(',', ':', '<', '>', '(', ')', ' ')
  .map((text): Part => ({ kind: 'text', text }));
const sentences = fc.letrec<{ part: Part }>(tie => ({
  part: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    words,
    marks,
    fc.nat(RULE_COUNT - 1).map((index): Part => ({ kind: 'rule', index })),
    fc.tuple(tie('part'), marks, tie('part')).map(list => all(...list)),
    fc.tuple(marks, tie('part'), marks).map(list => all(...list)),
    fc.tuple(tie('part'), tie('part')).map((list): Part => ({ kind: 'one', parts: list })),
    fc
      .tuple(tie('part'), bounds)
      .map(([part, [least, most]]): Part => ({ kind: 'many', part, least: least!, most: most! })),
  ),
})).part;

const rulesOf = (part: fc.Arbitrary<Part>) =>
  fc.array(part, { minLength: RULE_COUNT, maxLength: RULE_COUNT });
export const randomRules = rulesOf(parts);
export const randomSentences = rulesOf(sentences);

function many(part: Part, least: number): Part {
  return { kind: 'many', part, least, most: Infinity };
}

function all(...list: readonly Part[]): Part {
  return { kind: 'all', parts: list };
}

/** The grammar as text: its answer is one of the first rule. */
export function printRules(rules: readonly Part[]): string {
  return `root ::= r0\n${rules.map((rule, i) => `r${i} ::= ${print(rule)}`).join('\n')}`;
}

/** A text of the language, or undefined where a guess ran too deep. */
export function sampleText(rules: readonly Part[], random: () => number): string | undefined {
  let steps = 0;
  const sample = (part: Part): string | undefined => {
    if (++steps > 200) return undefined;
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'class': {
        const fitting = [...'abc019 \n"<>éàèz-,:'].filter(character => part.pattern.test(character));
        return fitting[Math.floor(random() * fitting.length)];
      }
      case 'rule':
        return sample(rules[part.index]!);
      case 'one':
        return sample(part.parts[Math.floor(random() * part.parts.length)]!);
      case 'all':
        return inARow(part.parts);
      case 'many': {
        const count = Math.min(part.most, part.least + Math.floor(random() * 3));
        return inARow(Array<Part>(count).fill(part.part));
      }
    }
  };
  const inARow = (list: readonly Part[]): string | undefined => {
    let text = '';
    for (const each of list) {
      const next = sample(each);
      if (next === undefined) return undefined;
      text += next;
    }
    return text;
  };
  return sample(rules[0]!);
}

function print(part: Part): string {
  switch (part.kind) {
    case 'text':
      return `"${part.text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
    case 'class':
      return part.source;
    case 'rule':
      return `r${part.index}`;
    case 'all':
      return `(${part.parts.map(print).join(' ')})`;
    case 'one':
      return `(${part.parts.map(print).join(' | ')})`;
    case 'many': {
      const { least, most } = part;
      const sign = most === Infinity ? (least === 0 ? '*' : '+') : most === 1 ? '?' : `{${least},${most}}`;
      return `(${print(part.part)})${sign}`;
    }
  }
}

/** Whether the text is in the language: all places where a match can end, widened until nothing is new. */
export function recognises(rules: readonly Part[], text: string): boolean {
  const characters = [...text];
  const known = new Map<string, Set<number>>();
  let hasGrown = true;
  const ends = (part: Part, at: number): Set<number> => {
    switch (part.kind) {
      case 'text': {
        const wanted = [...part.text];
        return new Set(wanted.every((each, i) => characters[at + i] === each) ? [at + wanted.length] : []);
      }
      case 'class':
        return new Set(at < characters.length && part.pattern.test(characters[at]!) ? [at + 1] : []);
      case 'rule': {
        const key = `${part.index}:${at}`;
        if (!known.has(key)) {
          known.set(key, new Set());
          hasGrown = true;
        }
        return known.get(key)!;
      }
      case 'all': {
        let from = new Set([at]);
        for (const each of part.parts) from = new Set([...from].flatMap(place => [...ends(each, place)]));
        return from;
      }
      case 'one':
        return new Set(part.parts.flatMap(each => [...ends(each, at)]));
      case 'many': {
        const found = new Set<number>(part.least === 0 ? [at] : []);
        let from = new Set([at]);
        for (let count = 1; count <= Math.min(part.most, characters.length + 1) && from.size > 0; count++) {
          from = new Set([...from].flatMap(place => [...ends(part.part, place)]));
          if (count >= part.least) for (const place of from) found.add(place);
        }
        return found;
      }
    }
  };
  ends({ kind: 'rule', index: 0 }, 0);
  while (hasGrown) {
    hasGrown = false;
    for (const [key, places] of [...known]) {
      const [index, at] = key.split(':').map(Number);
      for (const place of ends(rules[index!]!, at!)) {
        if (places.has(place)) continue;
        places.add(place);
        hasGrown = true;
      }
    }
  }
  return known.get('0:0')!.has(characters.length);
}
