// The syntax tree of an EBNF grammar, read-only by type. Only parse-ebnf.ts makes one.

/** Characters as ranges of code points, both ends included, ascending and apart; never surrogates. */
export type CharacterRanges = readonly (readonly [number, number])[];

export type EbnfNode =
  | { readonly kind: 'characters'; readonly ranges: CharacterRanges }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'sequence'; readonly items: readonly EbnfNode[] }
  | { readonly kind: 'choice'; readonly items: readonly EbnfNode[] }
  /** `max` is null where there is no upper bound. */
  | {
      readonly kind: 'repeat';
      readonly item: EbnfNode;
      readonly min: number;
      readonly max: number | null;
    };

/** Rules by name, in the order in which they were written. */
export type EbnfGrammar = ReadonlyMap<string, EbnfNode>;

const LAST_CODE_POINT = 0x10ffff;
const SURROGATES = [0xd800, 0xdfff] as const;

/** Sorted and joined, without surrogates. */
export function toRanges(ranges: readonly (readonly [number, number])[]): CharacterRanges {
  const joined: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else joined.push([low, high]);
  }
  return joined.flatMap(([low, high]) => withoutSurrogates(low, high));
}

/** Every character that is in none of the ranges. */
export function complement(ranges: CharacterRanges): CharacterRanges {
  const left: [number, number][] = [];
  let next = 0;
  for (const [low, high] of toRanges([...ranges, SURROGATES])) {
    if (low > next) left.push([next, low - 1]);
    next = high + 1;
  }
  // `toRanges` took the surrogates out, so they are taken out once more.
  left.push([next, LAST_CODE_POINT]);
  return toRanges(left.filter(([low, high]) => low <= high));
}

function withoutSurrogates(low: number, high: number): [number, number][] {
  const [first, last] = SURROGATES;
  if (high < first || low > last) return [[low, high]];
  const parts: [number, number][] = [];
  if (low < first) parts.push([low, first - 1]);
  if (high > last) parts.push([last + 1, high]);
  return parts;
}

/** Names of the rules that a node refers to, each once. */
export function referencedRules(node: EbnfNode, found = new Set<string>()): ReadonlySet<string> {
  if (node.kind === 'rule') found.add(node.name);
  else if (node.kind === 'repeat') referencedRules(node.item, found);
  else if (node.kind === 'sequence' || node.kind === 'choice')
    for (const item of node.items) referencedRules(item, found);
  return found;
}

/** Characters and references in a node once its counted repetitions are expanded. */
export function expandedSize(node: EbnfNode): number {
  switch (node.kind) {
    case 'characters':
    case 'rule':
      return 1;
    case 'text':
      return node.text.length;
    case 'sequence':
    case 'choice':
      return node.items.reduce((sum, item) => sum + expandedSize(item), 0);
    case 'repeat':
      return expandedSize(node.item) * Math.max(1, node.max ?? node.min);
  }
}
