// FIRST and FOLLOW sets of the planned rules, as a fixed point: the terminals that may begin a text, and those that may
// follow each terminal.

import type { PlanNode } from './rule-plan.ts';

type Keys = ReadonlySet<string>;

export interface FollowSets {
  /** FIRST of the grammar, and its FOLLOW where it is nullable. */
  readonly start: Keys;
  /** FOLLOW by terminal. */
  readonly after: ReadonlyMap<string, Keys>;
}

/** `nullable`: rules that match the empty text. `end`: the FOLLOW set of the whole grammar. */
export function findFollowSets(plans: ReadonlyMap<string, PlanNode>, nullable: Keys, end: Keys): FollowSets {
  return new FollowSetFinder(plans, nullable, end).find();
}

class FollowSetFinder {
  readonly #plans: ReadonlyMap<string, PlanNode>;
  readonly #nullable: Keys;
  /** FIRST of rules; FOLLOW of rules and of terminals. */
  readonly #first = new Map<string, Set<string>>();
  readonly #afterRule = new Map<string, Set<string>>();
  readonly #afterLexeme = new Map<string, Set<string>>();
  #hasGrown = false;

  constructor(plans: ReadonlyMap<string, PlanNode>, nullable: Keys, end: Keys) {
    this.#plans = plans;
    this.#nullable = nullable;
    for (const name of plans.keys()) {
      this.#first.set(name, new Set());
      this.#afterRule.set(name, new Set(name === 'root' ? end : []));
    }
  }

  find(): FollowSets {
    do {
      this.#hasGrown = false;
      for (const [name, plan] of this.#plans) {
        this.#grow(this.#first.get(name)!, this.#firstOf(plan));
        this.#visit(plan, this.#afterRule.get(name)!);
      }
    } while (this.#hasGrown);
    const end = this.#nullable.has('root') ? this.#afterRule.get('root')! : [];
    return { start: new Set([...this.#first.get('root')!, ...end]), after: this.#afterLexeme };
  }

  #grow(set: Set<string>, more: Iterable<string>): void {
    const before = set.size;
    for (const key of more) set.add(key);
    if (set.size > before) this.#hasGrown = true;
  }

  /** Grows FOLLOW of each part of a plan that `after` follows. Gives FIRST of the plan, with `after` where it is nullable. */
  #visit(plan: PlanNode, after: Keys): Keys {
    switch (plan.kind) {
      case 'lexeme':
        if (!this.#afterLexeme.has(plan.key)) this.#afterLexeme.set(plan.key, new Set());
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
        const again = plan.max === null || plan.max > 1 ? this.#firstOf(plan.item) : [];
        const begins = this.#visit(plan.item, new Set([...after, ...again]));
        return this.#withAfter(plan, begins, after);
      }
    }
  }

  #withAfter(plan: PlanNode, begins: Keys, after: Keys): Keys {
    return this.#isNullable(plan) ? new Set([...begins, ...after]) : begins;
  }

  #firstOf(plan: PlanNode): Keys {
    switch (plan.kind) {
      case 'lexeme':
        return new Set([plan.key]);
      case 'rule':
        return this.#first.get(plan.name)!;
      case 'choice':
        return new Set(plan.items.flatMap(item => [...this.#firstOf(item)]));
      case 'repeat':
        return plan.max === 0 ? new Set() : this.#firstOf(plan.item);
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
        return plan.min === 0 || this.#isNullable(plan.item);
    }
  }
}
