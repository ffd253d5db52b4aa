// The automaton of one repeated part of a pattern, with the number of ways from one character to the next. `find-ambiguity.ts`
// asks it whether the repetition reads some text in ever more ways.

import type { CharacterSet } from './character-set.ts';
import type { RegexNode, RepeatNode } from './regex-node.ts';
import type { WorkBudget } from './work-budget.ts';

/**
 * A state for each character of the part, after which it has just been read (Glushkov's automaton), with counts written out.
 * Between two states there may be several ways, as in `(a*)*`: from `a` to `a` by the inner star or by the outer one.
 */
export interface PositionAutomaton {
  /** Of each state. */
  readonly sets: readonly CharacterSet[];
  /** Of each state: those that may come next, and in how many ways, where 2 stands for more too. */
  readonly follow: readonly ReadonlyMap<number, number>[];
}

type Ways = Map<number, number>;

/** What a part of the pattern begins and ends with. */
interface Part {
  /** In how many ways it matches the empty text; 2 stands for more too. */
  readonly emptyWays: number;
  readonly first: ReadonlyMap<number, number>;
  readonly last: ReadonlyMap<number, number>;
}

const NONE: ReadonlyMap<number, number> = new Map();
const NOTHING: Part = { emptyWays: 0, first: NONE, last: NONE };
const EMPTY: Part = { emptyWays: 1, first: NONE, last: NONE };

/**
 * The automaton of `content` over and over again, without the states that lead nowhere: each of the rest is reached from
 * each other one. Throws: `PatternTooLarge`.
 */
export function buildLoop(content: RegexNode, budget: WorkBudget): PositionAutomaton {
  const builder = new AutomatonBuilder(budget);
  const part = builder.build(content);
  builder.connect(part.last, part.first);
  return builder.finish(part);
}

class AutomatonBuilder {
  readonly #budget: WorkBudget;
  readonly #sets: CharacterSet[] = [];
  readonly #follow: Ways[] = [];

  constructor(budget: WorkBudget) {
    this.#budget = budget;
  }

  build(node: RegexNode): Part {
    this.#budget.spend(1);
    switch (node.kind) {
      case 'set':
        return node.set.length === 0 ? NOTHING : this.#state(node.set);
      case 'sequence':
        return node.items.reduce<Part>((before, item) => this.#join(before, this.build(item)), EMPTY);
      case 'choice':
        return node.items.map(item => this.build(item)).reduce((a, b) => this.#either(a, b), NOTHING);
      case 'repeat':
        return this.#repeat(node);
      // What a condition lets through is not known here, so no text is said to pass it.
      case 'end':
      case 'condition':
        return NOTHING;
    }
  }

  /** Each of `to` may follow each of `from`. */
  connect(from: ReadonlyMap<number, number>, to: ReadonlyMap<number, number>): void {
    this.#budget.spend(from.size * to.size);
    for (const [state, ways] of from) addWays(this.#follow[state]!, to, ways);
  }

  finish({ first, last }: Part): PositionAutomaton {
    const back: Ways[] = this.#follow.map(() => new Map());
    for (const [state, next] of this.#follow.entries()) for (const to of next.keys()) back[to]!.set(state, 1);
    const entered = reach(first.keys(), this.#follow);
    const left = reach(last.keys(), back);
    const isLive = (state: number) => entered.has(state) && left.has(state);
    return {
      sets: this.#sets,
      follow: this.#follow.map((next, state) =>
        isLive(state) ? new Map([...next].filter(([to]) => isLive(to))) : NONE,
      ),
    };
  }

  #state(set: CharacterSet): Part {
    const state = this.#sets.push(set) - 1;
    this.#follow.push(new Map());
    return { emptyWays: 0, first: new Map([[state, 1]]), last: new Map([[state, 1]]) };
  }

  #join(a: Part, b: Part): Part {
    this.connect(a.last, b.first);
    return {
      emptyWays: atMostTwo(a.emptyWays * b.emptyWays),
      first: this.#sum(a.first, b.first, a.emptyWays),
      last: this.#sum(b.last, a.last, b.emptyWays),
    };
  }

  #either(a: Part, b: Part): Part {
    return {
      emptyWays: atMostTwo(a.emptyWays + b.emptyWays),
      first: this.#sum(a.first, b.first, 1),
      last: this.#sum(a.last, b.last, 1),
    };
  }

  /**
   * As ECMA-262 has it (RepeatMatcher): an iteration beyond the lowest count never takes the empty text, one of the
   * lowest count may.
   */
  #repeat({ content, least, most }: RepeatNode): Part {
    let part = EMPTY;
    const required = most === Infinity ? least - 1 : least;
    for (let i = 0; i < required; i++) part = this.#join(part, this.build(content));
    if (most === Infinity) return this.#join(part, this.#loop(content, least === 0));
    return this.#join(part, this.#upTo(most - least, content));
  }

  /** `(e(e(e)?)?)?`: any of the iterations may be the last one. */
  #upTo(count: number, content: RegexNode): Part {
    let first = NONE;
    let before = NONE;
    const last: Ways = new Map();
    for (let i = 0; i < count; i++) {
      const part = this.build(content);
      if (i === 0) first = part.first;
      this.connect(before, part.first);
      this.#budget.spend(part.last.size);
      addWays(last, part.last, 1);
      before = part.last;
    }
    return { emptyWays: 1, first, last };
  }

  #loop(content: RegexNode, isOptional: boolean): Part {
    const { emptyWays, first, last } = this.build(content);
    this.connect(last, first);
    if (isOptional) return { emptyWays: 1, first, last };
    // The first iteration may take nothing, and the second one be the first that does.
    return { emptyWays, first: this.#sum(first, first, emptyWays), last };
  }

  #sum(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>, times: number): Ways | typeof NONE {
    if (times === 0) return a;
    this.#budget.spend(a.size + b.size);
    const sum = new Map(a);
    addWays(sum, b, times);
    return sum;
  }
}

/** Mutates: `to`. */
function addWays(to: Ways, from: ReadonlyMap<number, number>, times: number): void {
  for (const [state, ways] of from) to.set(state, atMostTwo((to.get(state) ?? 0) + ways * times));
}

function atMostTwo(ways: number): number {
  return Math.min(2, ways);
}

function reach(starts: Iterable<number>, next: readonly Ways[]): ReadonlySet<number> {
  const seen = new Set(starts);
  for (const state of seen) for (const to of next[state]!.keys()) seen.add(to);
  return seen;
}
