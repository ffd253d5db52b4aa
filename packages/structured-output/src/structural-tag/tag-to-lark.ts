// Tag nodes -> Lark. Free text is a lazy terminal that stops at the first match of its end text. Names of special tokens
// inside texts become token references, because no text matches a special token.

import type { JsonValue } from '@ortler/json';
import { larkJson, larkLiteral, larkRegex } from '../lark/write-lark.ts';
import { refuse } from '../refuse.ts';
import type { TaggedNode, TagNode } from '../tag-node.ts';
import type { SpecialToken } from '../token-vocabulary.ts';
import { countPatterns, isRegular, PATTERN_LIMIT, toTerminal } from './regular-parts.ts';

/** Compilers of the leaves of a tag to Lark. Each throws `invalid_constraint`. */
export interface TagLeaves {
  readonly toJson: (node: Extract<TagNode, { kind: 'json' }>) => JsonValue;
  readonly toRegex: (pattern: string, place: string) => string;
  /** Rules whose names begin with `prefix`, and the name of the first. */
  readonly toRules: (
    text: string,
    prefix: string,
    place: string,
  ) => { readonly definitions: string; readonly start: string };
}

const ANY_TEXT = '/(?s:.*)/';

/** A grammar of the whole answer. Throws: `invalid_constraint` naming the place. */
export function tagToLark(node: TagNode, specialTokens: readonly SpecialToken[], leaves: TagLeaves): string {
  return new TagWriter(specialTokens, leaves).write(node);
}

class TagWriter {
  readonly #specialTokens: readonly SpecialToken[];
  readonly #leaves: TagLeaves;
  readonly #lines: string[] = [];
  /** Rules in Lark of the parts with names. */
  #rules: ReadonlyMap<string, string> = new Map();

  constructor(specialTokens: readonly SpecialToken[], leaves: TagLeaves) {
    // The longest name first, should one contain another.
    this.#specialTokens = [...specialTokens].sort((a, b) => b.name.length - a.name.length);
    this.#leaves = leaves;
  }

  write(node: TagNode): string {
    const start = this.#toExpression(node, []);
    return [`start: ${start}`, ...this.#lines].join('\n');
  }

  /** `until`: the texts that may follow, at which free text ends. Empty: the answer ends here. */
  #toExpression(node: TagNode, until: readonly string[]): string {
    switch (node.kind) {
      case 'text':
        return this.#literal(node.text);
      case 'json':
        return this.#define(larkJson(this.#leaves.toJson(node)));
      case 'regex':
        return this.#define(larkRegex(this.#leaves.toRegex(node.pattern, node.place)));
      case 'grammar': {
        const prefix = `g${this.#lines.length}_`;
        const { definitions, start } = this.#leaves.toRules(node.text, prefix, node.place);
        this.#lines.push(definitions);
        return start;
      }
      case 'any-text':
        if (until.length > 0) refuse(node.place, 'Free text must stand directly before the end of its tag');
        return this.#define(ANY_TEXT);
      case 'other-text':
        if (until.length > 0) refuse('', 'Other text reads to the end of the answer, so nothing may follow');
        return this.#otherThan(node.beginnings);
      case 'sequence':
        return this.#sequence(node.items, until);
      case 'choice':
        if (countPatterns([node]) > 0 && this.#regularFrom([node], 0).length === 1)
          return this.#defineRun([node], true);
        return `(${node.items.map(item => this.#toExpression(item, until)).join(' | ')})`;
      case 'rules':
        return this.#withRules(node);
      case 'rule':
        return this.#rules.get(node.name) ?? refuse('', `There is no part ${node.name}`);
      case 'tag':
        return `${this.#literal(node.begin)} ${this.#contentAndEnd(node)}`;
      case 'triggered':
        if (until.length > 0)
          refuse('', 'Triggered tags read free text to the end of the answer, so nothing may follow');
        return this.#triggered(node);
      case 'separated':
        return this.#separated(node);
    }
  }

  /** Free text is supported before a constant text or at the end: anywhere else its end is undefined. */
  #sequence(items: readonly TagNode[], until: readonly string[]): string {
    const parts: string[] = [];
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const next = items[i + 1];
      if (item.kind === 'any-text' && next?.kind === 'text') {
        parts.push(
          item.length === undefined
            ? this.#textUntil([next.text], item.first)
            : this.#boundedText(item, next.text),
        );
        i++;
        continue;
      }
      const run = this.#regularFrom(items, i);
      if (run.length <= 1) {
        parts.push(this.#toExpression(item, next === undefined ? until : ['']));
        continue;
      }
      const isLast = i + run.length === items.length && until.length === 0;
      if (countPatterns(run) > 0) parts.push(this.#defineRun(run, isLast));
      else parts.push(...run.map(each => this.#toExpression(each, until)));
      i += run.length - 1;
    }
    return `(${parts.join(' ')})`;
  }

  /** The regular items from here on, as many as one terminal may have. */
  #regularFrom(items: readonly TagNode[], start: number): readonly TagNode[] {
    let end = start;
    let count = 0;
    for (; end < items.length && isRegular(items[end]!, this.#isPlain); end++) {
      count += countPatterns([items[end]!]);
      if (count > PATTERN_LIMIT) break;
    }
    return items.slice(start, end);
  }

  /** Parts of an inner list of rules are known inside of it alone. */
  #withRules({ rules, content }: Extract<TagNode, { kind: 'rules' }>): string {
    const outer = this.#rules;
    const names = Object.keys(rules).map(
      (name, index) => [name, `rule${this.#lines.length}_${index}`] as const,
    );
    this.#rules = new Map([...outer, ...names]);
    for (const [name, rule] of names) {
      const body = this.#toExpression(rules[name]!, ['']);
      this.#lines.push(`${rule}: ${body}`);
    }
    const expression = this.#toExpression(content, ['']);
    this.#rules = outer;
    return expression;
  }

  #contentAndEnd({ content, ends }: TaggedNode): string {
    const isLastAnyText = content.kind === 'any-text' && !ends.includes('');
    if (isLastAnyText) return this.#textUntil(ends);
    const following = ends.includes('') ? [] : ends;
    if (content.kind === 'sequence' && content.items.at(-1)?.kind === 'any-text' && following.length > 0) {
      const head = this.#sequence(content.items.slice(0, -1), ['']);
      return `${content.items.length > 1 ? head : ''} ${this.#textUntil(ends)}`;
    }
    const pattern = this.#patternAtEnd(content, ends);
    if (pattern !== null) return pattern;
    const end = ends.map(text => this.#literal(text)).join(' | ');
    return `${this.#toExpression(content, following)} (${end})`;
  }

  /** Content whose last part is a pattern, with the first of `ends` that may end it. Null for other content. */
  #patternAtEnd(content: TagNode, ends: readonly string[]): string | null {
    if (ends.includes('') || !ends.every(this.#isPlain)) return null;
    const items = content.kind === 'sequence' ? content.items : [content];
    const before = items.findLastIndex(item => !isRegular(item, this.#isPlain)) + 1;
    const last = items.slice(before);
    // The text after free text is read with it.
    const count = countPatterns(last);
    if (count === 0 || count > PATTERN_LIMIT || items[before - 1]?.kind === 'any-text') return null;
    const head = before === 0 ? '' : `${this.#sequence(items.slice(0, before), [''])} `;
    const end = ends.map(larkLiteral).join(' | ');
    return head + this.#defineLazy(`${toTerminal(last, this.#leaves.toRegex)} (${end})`);
  }

  /** Free text with the first of `ends` at its end. */
  #textUntil(ends: readonly string[], first?: string): string {
    const any = first === undefined ? ANY_TEXT : larkRegex(`${first}(?s:.*)`);
    const special = ends.filter(end => !this.#isPlain(end));
    if (special.length === 0) return this.#defineLazy(`${any} (${ends.map(larkLiteral).join(' | ')})`);
    // Text never matches a special token, so free text ends there by itself.
    if (ends.length === 1) return this.#textAndEnd(any, this.#beforeSpecial(ends[0]!));
    if (ends.some(end => this.#beforeSpecial(end).plain !== '' || this.#isPlain(end)))
      refuse('', 'Several ends of free text must be text only, or begin with special tokens');
    return `${this.#define(any)} (${ends.map(end => this.#literal(end)).join(' | ')})`;
  }

  /** An end of free text: what is before its first special token, and the rest. */
  #beforeSpecial(end: string): { readonly plain: string; readonly rest: string } {
    const [first] = this.#split(end);
    const plain = typeof first === 'string' ? first : '';
    return { plain, rest: end.slice(plain.length) };
  }

  /** Free text that ends with the special token after `plain`. */
  #textAndEnd(text: string, { plain, rest }: { readonly plain: string; readonly rest: string }): string {
    const name = `TEXT${this.#lines.length}`;
    this.#lines.push(`${name}: ${plain === '' ? text : `${text} ${larkLiteral(plain)}`}`);
    return `${name} ${this.#literal(rest)}`;
  }

  /** Text of bounded length with the first `end` after it. */
  #boundedText({ length, first, place }: Extract<TagNode, { kind: 'any-text' }>, end: string): string {
    const { min, max } = length!;
    const taken = first === undefined ? 0 : 1;
    const count = `${Math.max(0, min - taken)},${max === null ? '' : max - taken}`;
    const text = larkRegex(this.#leaves.toRegex(`${first ?? ''}(?s:.{${count}})`, place));
    // Text never matches a special token, so nothing but the end has one.
    if (!this.#isPlain(end)) return this.#textAndEnd(text, this.#beforeSpecial(end));
    const name = `BOUNDED${this.#lines.length}`;
    const literal = larkLiteral(end);
    this.#lines.push(`${name}: (${text} ${literal}) & ~(${ANY_TEXT} ${literal} /(?s:.+)/)`);
    return name;
  }

  #triggered({ triggers, tags, needsOne, stopsAfterFirst }: Extract<TagNode, { kind: 'triggered' }>): string {
    const calls = triggers.map(trigger => {
      const mine = tags.filter(tag => longestTrigger(triggers, tag.begin) === trigger);
      const rest = mine.map(tag => {
        const begin = tag.begin.slice(trigger.length);
        return `${begin === '' ? '' : this.#literal(begin)} ${this.#contentAndEnd(tag)}`;
      });
      return this.#define(`${this.#textUntil([trigger])} (${rest.join(' | ')})`);
    });
    const call = `(${calls.join(' | ')})`;
    const plain = triggers.filter(this.#isPlain);
    const rest = this.#freeOf(plain);
    if (stopsAfterFirst) return needsOne ? call : `(${call} | ${rest})`;
    return `${call}${needsOne ? '+' : '*'} ${rest}`;
  }

  /** Text that contains none of the triggers: after one of them there would have to be a tag. */
  #freeOf(triggers: readonly string[]): string {
    if (triggers.length === 0) return this.#define(ANY_TEXT);
    const name = `FREE${this.#lines.length}`;
    const excluded = triggers.map(trigger => `~(${ANY_TEXT} ${larkLiteral(trigger)} ${ANY_TEXT})`);
    this.#lines.push(`${name}: ${[ANY_TEXT, ...excluded].join(' & ')}`);
    return name;
  }

  /** Text that begins with none of these. */
  #otherThan(beginnings: readonly string[]): string {
    const name = `OTHER${this.#lines.length}`;
    const excluded = beginnings.map(text => `~(${larkLiteral(text)} ${ANY_TEXT})`);
    this.#lines.push(`${name}: ${[ANY_TEXT, ...excluded].join(' & ')}`);
    return name;
  }

  #separated({
    separator,
    tags,
    needsOne,
    stopsAfterFirst,
  }: Extract<TagNode, { kind: 'separated' }>): string {
    const tag = this.#define(
      tags.map(each => `${this.#literal(each.begin)} ${this.#contentAndEnd(each)}`).join(' | '),
    );
    const all = stopsAfterFirst ? tag : `(${tag} (${this.#literal(separator)} ${tag})*)`;
    return needsOne ? all : `(${all})?`;
  }

  #define(body: string): string {
    const name = `part${this.#lines.length}`;
    this.#lines.push(`${name}: ${body}`);
    return name;
  }

  /** Where something follows, a text at the end of the run is the first one that may end it: it may fit the pattern as well. */
  #defineRun(run: readonly TagNode[], isLast: boolean): string {
    const last = run.at(-1)!;
    const isLazy = !isLast && last.kind === 'text' && last.text !== '';
    const terminal = toTerminal(run, this.#leaves.toRegex);
    if (isLazy) return this.#defineLazy(terminal);
    const name = `PART${this.#lines.length}`;
    this.#lines.push(`${name}: ${terminal}`);
    return name;
  }

  /** A terminal that ends at the first place where it may. */
  #defineLazy(terminal: string): string {
    const name = `lazy${this.#lines.length}`;
    this.#lines.push(`${name}[lazy]: ${terminal}`);
    return name;
  }

  /** Whether a text has no special tokens. */
  readonly #isPlain = (text: string): boolean => this.#split(text).every(part => typeof part === 'string');

  #literal(text: string): string {
    if (text === '') return '""';
    const parts = this.#split(text).map(part =>
      typeof part === 'string' ? larkLiteral(part) : `<[${part.id}]>`,
    );
    return parts.length === 1 ? parts[0]! : `(${parts.join(' ')})`;
  }

  #split(text: string): readonly (string | SpecialToken)[] {
    const parts: (string | SpecialToken)[] = [];
    let plain = '';
    for (let at = 0; at < text.length; ) {
      const special = this.#specialTokens.find(({ name }) => name !== '' && text.startsWith(name, at));
      if (special === undefined) {
        plain += text[at++];
        continue;
      }
      if (plain !== '') parts.push(plain);
      parts.push(special);
      plain = '';
      at += special.name.length;
    }
    if (plain !== '') parts.push(plain);
    return parts;
  }
}

function longestTrigger(triggers: readonly string[], begin: string): string | undefined {
  return triggers.filter(trigger => begin.startsWith(trigger)).sort((a, b) => b.length - a.length)[0];
}
