// Which parts of an EBNF grammar may be terminals. llguidance reads terminals a hundred times faster than rules of single
// characters, but greedily: a terminal goes on as long as it can, and of several only those live that the next byte
// fits. So a part becomes one only where neither can make a difference to the language:
//
// - behind a whole text of it, no byte can both go on with it and begin what follows it;
// - wherever it may begin, nothing else that may begin there begins with the same byte.
//
// A grammar that is regular as a whole is one terminal, when nothing follows it.

import type { EbnfGrammar, EbnfNode } from './ebnf-node.ts';
import { addSet, type ByteSet, emptySet, type LexemeBytes, lexemeBytes, meets } from './lexeme-bytes.ts';
import { isNullable, type PlanContext, type PlanNode, planRules } from './rule-plan.ts';
import { rulesIn } from './rules-in.ts';

/** Past this many parts a grammar keeps its characters: the look at it grows faster than it does. */
const MOST_LEXEMES = 1_000;
/** Stands for what comes behind a grammar that is part of a larger one: it may be anything. */
const OUTSIDE = 'outside';

export interface ChooseOptions {
  /** Names a node by what it says. */
  readonly keyOf: (node: EbnfNode) => string;
  /** Something may follow the grammar's text. */
  readonly isPart: boolean;
}

/** The rules in which the safe parts are terminals. */
export function chooseTerminals(
  rules: EbnfGrammar,
  { keyOf, isPart }: ChooseOptions,
): ReadonlyMap<string, PlanNode> {
  const regular = findRules(rules, (node, found) => [...rulesIn(node)].every(name => found.has(name)));
  const root = rules.get('root')!;
  if (!isPart && regular.has('root'))
    return new Map([['root', { kind: 'lexeme', key: keyOf(root), node: root }]]);
  const nullable = findRules(rules, isNullable);
  const bytes = new Map<string, LexemeBytes | null>();
  const bytesOf = (key: string, node: EbnfNode): LexemeBytes | null => {
    if (!bytes.has(key)) bytes.set(key, lexemeBytes(node, rules));
    return bytes.get(key)!;
  };
  const refused = new Set<string>();
  const context: PlanContext = {
    rules,
    regular,
    nullable,
    keyOf,
    isTerminal: (key, node) => !refused.has(key) && bytesOf(key, node) !== null,
  };
  // Refusing one splits it into parts, which may be in the way of others.
  for (;;) {
    const plans = planRules(context);
    const unsafe = new Lexemes(plans, nullable, isPart, bytesOf).findUnsafe();
    if (unsafe === null) return planRules({ ...context, isTerminal: () => false });
    if (unsafe.size === 0) return plans;
    for (const key of unsafe) refused.add(key);
  }
}

/** The smallest set of rules of which each one holds with the others in the set. */
function findRules(
  rules: EbnfGrammar,
  holds: (node: EbnfNode, found: ReadonlySet<string>) => boolean,
): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...rules].reverse();
  let before = -1;
  while (before !== found.size) {
    before = found.size;
    for (const [name, node] of open) if (!found.has(name) && holds(node, found)) found.add(name);
  }
  return found;
}

/** What may begin where, and what may follow what. */
class Lexemes {
  readonly #plans: ReadonlyMap<string, PlanNode>;
  readonly #nullable: ReadonlySet<string>;
  readonly #bytes = new Map<string, LexemeBytes>();
  readonly #single = new Set<string>();
  /** Of rules: the terminals they may begin with; of rules and terminals: those that may follow. */
  readonly #first = new Map<string, Set<string>>();
  readonly #afterRule = new Map<string, Set<string>>();
  readonly #afterLexeme = new Map<string, Set<string>>();
  #hasGrown = false;

  constructor(
    plans: ReadonlyMap<string, PlanNode>,
    nullable: ReadonlySet<string>,
    isPart: boolean,
    bytesOf: (key: string, node: EbnfNode) => LexemeBytes | null,
  ) {
    this.#plans = plans;
    this.#nullable = nullable;
    for (const name of plans.keys()) {
      this.#first.set(name, new Set());
      this.#afterRule.set(name, new Set());
    }
    if (isPart) {
      this.#afterRule.get('root')!.add(OUTSIDE);
      const any = emptySet().fill(1);
      this.#bytes.set(OUTSIDE, { first: any, further: any });
      this.#single.add(OUTSIDE);
    }
    const collect = (plan: PlanNode): void => {
      if (plan.kind === 'lexeme') {
        // A character is always small enough to be looked at.
        this.#bytes.set(plan.key, bytesOf(plan.key, plan.node)!);
        if (plan.node.kind === 'characters') this.#single.add(plan.key);
        this.#afterLexeme.set(plan.key, new Set());
      } else if (plan.kind === 'repeat') collect(plan.item);
      else if (plan.kind !== 'rule') for (const item of plan.items) collect(item);
    };
    for (const plan of plans.values()) collect(plan);
  }

  /** Terminals that could change the language; null when there are too many to look at. */
  findUnsafe(): ReadonlySet<string> | null {
    if (this.#bytes.size > MOST_LEXEMES) return null;
    this.#fill();
    const unsafe = new Set<string>();
    const root = this.#afterRule.get('root')!;
    const start = new Set([...this.#first.get('root')!, ...(this.#nullable.has('root') ? root : [])]);
    for (const places of [start, ...this.#placesBehind()]) this.#addMeeting(places, unsafe);
    for (const [key, after] of this.#afterLexeme) {
      if (this.#single.has(key)) continue;
      const next = emptySet();
      for (const other of after) addSet(next, this.#bytes.get(other)!.first);
      if (meets(this.#bytes.get(key)!.further, next)) unsafe.add(key);
    }
    return unsafe;
  }

  /** What may begin behind each terminal; behind characters that may be the same one, whatever may follow either. */
  #placesBehind(): readonly ReadonlySet<string>[] {
    const places: Set<string>[] = [];
    const groups: { readonly bytes: ByteSet; readonly after: Set<string> }[] = [];
    for (const [key, after] of this.#afterLexeme) {
      if (!this.#single.has(key)) {
        places.push(after);
        continue;
      }
      const bytes = Uint8Array.from(this.#bytes.get(key)!.first);
      const joined = new Set(after);
      for (let at = groups.length - 1; at >= 0; at--) {
        const group = groups[at]!;
        if (!meets(group.bytes, bytes)) continue;
        addSet(bytes, group.bytes);
        for (const other of group.after) joined.add(other);
        groups.splice(at, 1);
        // What was passed may meet the larger group.
        at = groups.length;
      }
      groups.push({ bytes, after: joined });
    }
    return [...places, ...groups.map(group => group.after)];
  }

  /** Adds the terminals of one place that begin like something else there. Mutates: `unsafe`. */
  #addMeeting(place: ReadonlySet<string>, unsafe: Set<string>): void {
    for (const key of place) {
      if (this.#single.has(key) || unsafe.has(key)) continue;
      const { first } = this.#bytes.get(key)!;
      for (const other of place)
        if (other !== key && meets(first, this.#bytes.get(other)!.first)) unsafe.add(key);
    }
  }

  #fill(): void {
    do {
      this.#hasGrown = false;
      for (const [name, plan] of this.#plans) {
        this.#grow(this.#first.get(name)!, this.#firstOf(plan));
        this.#visit(plan, this.#afterRule.get(name)!);
      }
    } while (this.#hasGrown);
  }

  #grow(set: Set<string>, more: Iterable<string>): void {
    const before = set.size;
    for (const key of more) set.add(key);
    if (set.size > before) this.#hasGrown = true;
  }

  /** Notes what follows each part of a plan when `after` follows it all; what may begin where it begins. */
  #visit(plan: PlanNode, after: ReadonlySet<string>): ReadonlySet<string> {
    switch (plan.kind) {
      case 'lexeme':
        this.#grow(this.#afterLexeme.get(plan.key)!, after);
        return new Set([plan.key]);
      case 'rule':
        this.#grow(this.#afterRule.get(plan.name)!, after);
        return this.#withAfter(plan, this.#first.get(plan.name)!, after);
      case 'sequence':
        return plan.items.reduceRight((next, item) => this.#visit(item, next), after);
      case 'choice':
        return new Set(plan.items.flatMap(item => [...this.#visit(item, after)]));
      case 'repeat': {
        const again = plan.most === null || plan.most > 1 ? this.#firstOf(plan.item) : [];
        const begins = this.#visit(plan.item, new Set([...after, ...again]));
        return this.#withAfter(plan, begins, after);
      }
    }
  }

  #withAfter(plan: PlanNode, begins: ReadonlySet<string>, after: ReadonlySet<string>): ReadonlySet<string> {
    return this.#isNullable(plan) ? new Set([...begins, ...after]) : begins;
  }

  #firstOf(plan: PlanNode): ReadonlySet<string> {
    switch (plan.kind) {
      case 'lexeme':
        return new Set([plan.key]);
      case 'rule':
        return this.#first.get(plan.name)!;
      case 'choice':
        return new Set(plan.items.flatMap(item => [...this.#firstOf(item)]));
      case 'repeat':
        return plan.most === 0 ? new Set() : this.#firstOf(plan.item);
      case 'sequence': {
        const first = new Set<string>();
        for (const item of plan.items) {
          for (const key of this.#firstOf(item)) first.add(key);
          if (!this.#isNullable(item)) break;
        }
        return first;
      }
    }
  }

  #isNullable(plan: PlanNode): boolean {
    switch (plan.kind) {
      case 'lexeme':
        return false;
      case 'rule':
        return this.#nullable.has(plan.name);
      case 'choice':
        return plan.items.some(item => this.#isNullable(item));
      case 'sequence':
        return plan.items.every(item => this.#isNullable(item));
      case 'repeat':
        return plan.least === 0 || this.#isNullable(plan.item);
    }
  }
}
