// Follows the outline of an answer byte by byte: whether the text stands in marks, in the text of an argument, or at the beginning
// of JSON. A set of threads, as several parts of an outline may fit; sets are kept as nodes, so that a byte is one lookup.

import type { AnswerShape } from '../answer-shape.ts';

type State =
  | { readonly kind: 'byte'; readonly byte: number; readonly next: number }
  | { readonly kind: 'any'; readonly accepts: readonly boolean[] | null; readonly next: number }
  | { readonly kind: 'json'; readonly first: string; readonly hasLongNumbers: boolean; readonly next: number }
  | {
      readonly kind: 'until';
      readonly ends: readonly string[];
      readonly isValue: boolean;
      readonly next: number;
    }
  | { readonly kind: 'other'; readonly beginnings: readonly string[] }
  | { readonly kind: 'split'; readonly nexts: number[] }
  /** After a call: what follows all calls, and the next call. */
  | { readonly kind: 'call-end'; readonly next: number; more: number; readonly separatorLength: number }
  | { readonly kind: 'end' };

/** A place in the outline. `read`: bytes of an end or beginning that were read, a character for each. */
interface Thread {
  readonly state: number;
  readonly read: string;
}

/** The text of an argument that is not JSON. */
export interface TextValue {
  /** Same for the same place in the outline. */
  readonly place: number;
  readonly ends: readonly string[];
  /** Bytes of an end that were read. */
  readonly readLength: number;
}

/** After one more byte. */
export interface ShapeStep {
  /** After the byte, or after the JSON that it begins. Null: the outline has no such byte here. */
  readonly node: ShapeNode | null;
  /** The byte begins JSON. */
  readonly json: { readonly hasLongNumbers: boolean } | null;
}

/** A set of threads. */
export interface ShapeNode {
  readonly id: number;
  readonly threads: readonly Thread[];
  /** Text of any length stands here, in which nothing is to be checked. */
  readonly isText: boolean;
  /** That text is a value. */
  readonly value: TextValue | null;
  /** After a call: the node without further calls. */
  readonly ending: ShapeNode | null;
  /** After a call: bytes up to the next one. Null elsewhere. */
  readonly separatorLength: number | null;
  /** Steps that were made from here, by byte. */
  readonly steps: Map<number, ShapeStep>;
}

/** An outline with more sets of threads is not followed any further. */
const MAX_NODES = 10_000;
let nextNodeId = 1;

export class ShapeAutomaton {
  readonly start: ShapeNode;
  readonly #states: State[] = [];
  /** Parts with names: their first state, and the one after them. Which of its places a part stands at is not kept. */
  readonly #rules = new Map<string, { readonly first: number; readonly returns: number[] }>();
  readonly #nodes = new Map<string, ShapeNode>();
  /** The outline is not known any more: everything fits. */
  readonly #lost: ShapeNode = {
    id: 0,
    threads: [],
    isText: true,
    value: null,
    ending: null,
    separatorLength: null,
    steps: new Map(),
  };

  constructor(shape: AnswerShape) {
    const end = this.#add({ kind: 'end' });
    this.start = this.#nodeOf([{ state: this.#build(shape, end), read: '' }]);
  }

  /** Where text goes on that is not in the outline. */
  get lost(): ShapeNode {
    return this.#lost;
  }

  read(node: ShapeNode, byte: number): ShapeStep {
    const known = node.steps.get(byte);
    if (known !== undefined) return known;
    const step = this.#step(node, byte);
    node.steps.set(byte, step);
    return step;
  }

  #step(node: ShapeNode, byte: number): ShapeStep {
    if (node === this.#lost) return { node: this.#lost, json: null };
    const moved: Thread[] = [];
    const afterJson: Thread[] = [];
    let hasLongNumbers = false;
    for (const { state: at, read } of node.threads) {
      const state = this.#states[at]!;
      if (state.kind === 'json') {
        if (!state.first.includes(String.fromCharCode(byte))) continue;
        hasLongNumbers ||= state.hasLongNumbers;
        afterJson.push({ state: state.next, read: '' });
      } else moved.push(...move(state, at, read, byte));
    }
    if (afterJson.length === 0) return { node: moved.length === 0 ? null : this.#nodeOf(moved), json: null };
    // Where the byte may be text as well, nothing is known of the form from here on.
    if (moved.length > 0) return { node: this.#lost, json: null };
    return { node: this.#nodeOf(afterJson), json: { hasLongNumbers } };
  }

  /** The node of these threads, with everything that may follow them without a byte. */
  #nodeOf(threads: readonly Thread[], hasMore = true): ShapeNode {
    const open = new Map<string, Thread>();
    const pending = [...threads];
    let separatorLength: number | null = null;
    for (let thread = pending.pop(); thread !== undefined; thread = pending.pop()) {
      const key = `${thread.state}/${thread.read}`;
      if (open.has(key)) continue;
      open.set(key, thread);
      const state = this.#states[thread.state]!;
      if (state.kind === 'split') for (const next of state.nexts) pending.push({ state: next, read: '' });
      if (state.kind === 'any') pending.push({ state: state.next, read: '' });
      if (state.kind !== 'call-end') continue;
      pending.push({ state: state.next, read: '' });
      if (!hasMore) continue;
      pending.push({ state: state.more, read: '' });
      separatorLength = state.separatorLength;
    }
    const consuming = [...open].filter(([, { state }]) => {
      const { kind } = this.#states[state]!;
      return kind !== 'split' && kind !== 'call-end' && kind !== 'end';
    });
    const ending = separatorLength === null ? null : this.#nodeOf(threads, false);
    const names = consuming.map(([name]) => name).sort();
    const key = `${names.join(' ')} ${ending?.id ?? ''}`;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    if (this.#nodes.size === MAX_NODES) return this.#lost;
    const node = { ...this.#createNode(consuming.map(([, thread]) => thread)), ending, separatorLength };
    this.#nodes.set(key, node);
    return node;
  }

  #createNode(threads: readonly Thread[]): Omit<ShapeNode, 'ending' | 'separatorLength'> {
    const states = threads.map(({ state }) => this.#states[state]!);
    const isText = states.some(
      state =>
        state.kind === 'until' || state.kind === 'other' || (state.kind === 'any' && state.accepts === null),
    );
    const [only] = states;
    const isValue = states.length === 1 && only?.kind === 'until' && only.isValue;
    const { state: place, read } = threads[0] ?? { state: 0, read: '' };
    const value = isValue ? { place, ends: only.ends, readLength: read.length } : null;
    return { id: nextNodeId++, threads, isText, value, steps: new Map() };
  }

  /** The state at which a part begins, after which `next` follows. */
  #build(shape: AnswerShape, next: number): number {
    switch (shape.kind) {
      case 'text': {
        const bytes = new TextEncoder().encode(shape.text);
        return bytes.reduceRight((after, byte) => this.#add({ kind: 'byte', byte, next: after }), next);
      }
      case 'json':
        return this.#add({ ...shape, next });
      case 'any':
        return this.#add({ kind: 'any', accepts: bytesOfClass(shape.characters), next });
      case 'until':
        return this.#add({ ...shape, ends: shape.ends.map(toByteText), next });
      case 'other':
        return this.#add({ kind: 'other', beginnings: shape.beginnings.map(toByteText) });
      case 'sequence':
        return shape.items.reduceRight((after, item) => this.#build(item, after), next);
      case 'choice':
        return this.#add({ kind: 'split', nexts: shape.items.map(item => this.#build(item, next)) });
      case 'rules': {
        const bodies = Object.entries(shape.rules).map(([name, body]) => {
          const begin = { kind: 'split' as const, nexts: [] as number[] };
          const end = { kind: 'split' as const, nexts: [] as number[] };
          const rule = { first: this.#add(begin), returns: end.nexts };
          this.#rules.set(name, rule);
          return { body, begin, end: this.#add(end) };
        });
        for (const { body, begin, end } of bodies) begin.nexts.push(this.#build(body, end));
        return this.#build(shape.content, next);
      }
      case 'rule': {
        const { first, returns } = this.#rules.get(shape.name)!;
        returns.push(next);
        return first;
      }
      case 'repeated': {
        const { item, separator, areCalls } = shape;
        const separatorLength = Buffer.byteLength(separator);
        const again = areCalls
          ? { kind: 'call-end' as const, next, more: next, separatorLength }
          : { kind: 'split' as const, nexts: [next] };
        const first = this.#build(item, this.#add(again));
        const more = this.#build({ kind: 'text', text: separator }, first);
        if (again.kind === 'split') again.nexts.push(more);
        else again.more = more;
        return shape.mayBeMissing ? this.#add({ kind: 'split', nexts: [first, next] }) : first;
      }
    }
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }
}

/** Threads after a byte of text. */
function move(state: State, at: number, read: string, byte: number): Thread[] {
  switch (state.kind) {
    case 'byte':
      return state.byte === byte ? [{ state: state.next, read: '' }] : [];
    case 'any':
      return state.accepts === null || state.accepts[byte] === true ? [{ state: at, read: '' }] : [];
    case 'until': {
      const text = read + String.fromCharCode(byte);
      if (state.ends.some(end => text.endsWith(end))) return [{ state: state.next, read: '' }];
      let start = 0;
      while (start < text.length && !state.ends.some(end => end.startsWith(text.slice(start)))) start++;
      return [{ state: at, read: text.slice(start) }];
    }
    case 'other': {
      if (read === OTHER) return [{ state: at, read }];
      const text = read + String.fromCharCode(byte);
      if (state.beginnings.includes(text)) return [];
      return [{ state: at, read: state.beginnings.some(other => other.startsWith(text)) ? text : OTHER }];
    }
    default:
      return [];
  }
}

/** The text has begun otherwise. No byte has this character. */
const OTHER = '\u{1f}\u{100}';

/** The bytes of a text, a character for each. */
function toByteText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** By byte: whether characters of the class have it. Null: all do. */
function bytesOfClass(characters: string | null): readonly boolean[] | null {
  if (characters === null) return null;
  const pattern = new RegExp(`^${characters}$`, 'u');
  const hasOthers = pattern.test('é') || pattern.test('日');
  return Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 ? pattern.test(String.fromCharCode(byte)) : hasOthers,
  );
}
