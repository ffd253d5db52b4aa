// Which parts of an EBNF grammar may be terminals. llguidance reads terminals a hundred times faster than rules of single
// characters, but greedily: a terminal goes on as long as it can, and of several only those live that the next byte
// fits. So a part becomes one only where neither can make a difference to the language:
//
// - behind a whole text of it, no byte can both go on with it and begin what follows it;
// - wherever it may begin, nothing else that may begin there begins with the same byte.
//
// A grammar that is regular as a whole is one terminal, when nothing follows it.

import type { CharacterRanges, EbnfGrammar, EbnfNode } from './ebnf-node.ts';
import {
  addLeads,
  addSet,
  type ByteSet,
  emptySet,
  type LexemeBytes,
  lexemeBytes,
  meets,
} from './lexeme-bytes.ts';
import { isNullable, type PlanContext, type PlanNode, planRules } from './rule-plan.ts';
import { rulesIn } from './rules-in.ts';

/** A larger grammar keeps its characters: the look at it grows faster than it does. Unit: texts, characters and names. */
const MOST_PARTS = 1_000;
const LOOK_STEPS = 500_000;
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
  const budget = { steps: LOOK_STEPS };
  const bytesOf = (key: string, node: EbnfNode): LexemeBytes | null => {
    if (!bytes.has(key)) bytes.set(key, lexemeBytes(node, rules, budget));
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
  if (countParts(rules) > MOST_PARTS) return planRules({ ...context, isTerminal: () => false });
  // Refusing one splits it into parts, which may be in the way of others.
  for (;;) {
    const plans = planRules(context);
    const unsafe = new Lexemes(plans, nullable, isPart, key => bytes.get(key)!).findUnsafe();
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

function ofCharacter(ranges: CharacterRanges): LexemeBytes {
  const first = emptySet();
  addLeads(first, ranges);
  return { first, further: emptySet() };
}

function countParts(rules: EbnfGrammar): number {
  const count = (node: EbnfNode): number => {
    if (node.kind === 'repeat') return count(node.item);
    if (node.kind === 'sequence' || node.kind === 'choice')
      return node.items.reduce((sum, item) => sum + count(item), 0);
    return node.kind === 'text' ? node.text.length : 1;
  };
  return [...rules.values()].reduce((sum, node) => sum + count(node), 0);
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
    bytesOf: (key: string) => LexemeBytes,
  ) {
    this.#plans = plans;
    this.#nullable = nullable;
    for (const name of plans.keys()) {
      this.#first.set(name, new Set());
      this.#afterRule.set(name, new Set());
    }
    if (isPart) {
      this.#afterRule.get('root')!.add(OUTSIDE);
      const any = emptySet().fill(0xffffffff);
      this.#bytes.set(OUTSIDE, { first: any, further: any });
      this.#single.add(OUTSIDE);
    }
    const collect = (plan: PlanNode): void => {
      if (plan.kind === 'lexeme') {
        const bytes = plan.node.kind === 'characters' ? ofCharacter(plan.node.ranges) : bytesOf(plan.key);
        this.#bytes.set(plan.key, bytes);
        if (plan.node.kind === 'characters') this.#single.add(plan.key);
        this.#afterLexeme.set(plan.key, new Set());
      } else if (plan.kind === 'repeat') collect(plan.item);
      else if (plan.kind !== 'rule') for (const item of plan.items) collect(item);
    };
    for (const plan of plans.values()) collect(plan);
  }

  /** Terminals that could change the language. */
  findUnsafe(): ReadonlySet<string> {
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
      const bytes = this.#bytes.get(key)!.first.slice();
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
