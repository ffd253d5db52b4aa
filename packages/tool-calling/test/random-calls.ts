// A model of random logits over a small vocabulary that follows the grammar of a dialect.

import {
  allowsToken,
  ConstraintCompiler,
  createTokenVocabulary,
  type TagNode,
} from '@ortler/structured-output';
import type { ToolDialect } from '../src/tool-dialect.ts';

const CHARACTERS = [
  ...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)),
  '\n',
  'é',
  '日',
  '😀',
];
const PIECES = ['{"', '": ', '",', '"}', ', "', '</', 'tool_call>', '\n<', 'abc', ' true', 'true', '}\n'];
/** Tokens that end something: without a preference for them, random texts never end. */
const ENDINGS = new Set(['"', '}', ']', ')', '"}', '\n']);
const END = '<end>';
const TOKEN_LIMIT = 3000;

export interface RandomModel {
  /**
   * The text of one answer, and whether it ended by itself. Special tokens are in the text.
   * @param liked Tokens that the model takes wherever they are allowed, then the ends of values.
   */
  generate(
    random: () => number,
    liked?: ReadonlySet<string>,
  ): { readonly text: string; readonly isWhole: boolean };
}

/** The marks of a dialect, as tokens: special ones where real tokenizers have them. */
function marksOf({ section, call, arguments: form, alsoRead }: ToolDialect) {
  const texts = [
    section.open,
    section.close,
    ...[...call, ...(alsoRead ?? []).flatMap(each => each.call)].map(part =>
      typeof part === 'object' ? part.text : '',
    ),
  ];
  const special = new Set(texts.flatMap(text => text.match(/<[|｜][^<>]*[|｜]>|\[[A-Z_]+\]/g) ?? []));
  // A token of DeepSeek that is none of the special ones.
  const plain = new Set(texts.flatMap(text => text.match(/｜\w+｜/g) ?? []));
  if (form.kind === 'tagged') {
    const { open, nameEnd, jsonNameEnd = nameEnd, wrap, close } = form;
    for (const text of [open, nameEnd, jsonNameEnd, close]) plain.add(text);
    if (wrap !== undefined) for (const text of [wrap.open, wrap.close + close]) plain.add(text);
  }
  if (form.kind === 'literals' && form.notation.quote !== 'json') special.add(form.notation.quote.mark);
  if (special.has('<|message|>')) for (const name of ['<|end|>', '<|start|>']) special.add(name);
  return { special: [...special], plain: [...plain] };
}

export class RandomModels {
  readonly #tokens: readonly string[];
  readonly #compiler: ConstraintCompiler;

  /** @param isSpecial Tokens of the dialect that tokenizers may have as special ones, beside those that they have. */
  constructor(dialect: ToolDialect, isSpecial: (token: string) => boolean = () => false) {
    const marks = marksOf(dialect);
    const special = [...marks.special, ...marks.plain.filter(isSpecial)];
    const plain = marks.plain.filter(mark => !special.some(token => mark.includes(token)));
    // A trigger of several tokens, so that random text has it now and then.
    const triggers = special.some(mark => dialect.trigger.startsWith(mark)) ? [] : [dialect.trigger];
    this.#tokens = [END, ...special, ...CHARACTERS, ...PIECES, ...plain, ...triggers].filter(
      (token, index, all) => all.indexOf(token) === index,
    );
    const specialTokenIds = special.map(mark => this.#tokens.indexOf(mark));
    this.#compiler = new ConstraintCompiler(
      createTokenVocabulary(this.#tokens, { eosTokenIds: [0], specialTokenIds }),
    );
  }

  async compile(tag: TagNode, ends: ReadonlySet<string>): Promise<RandomModel> {
    const constraint = await this.#compiler.compile({ tag, style: { closeObjects: true } });
    const mask = this.#compiler.createMask();
    return {
      generate: (random, liked = new Set()) => {
        const matcher = constraint.createMatcher();
        let text = '';
        let count = 0;
        for (; count < TOKEN_LIMIT && !matcher.mustStop(); count++) {
          matcher.fillMask(mask);
          const allowed = this.#tokens.map((_, id) => id).filter(id => allowsToken(mask, id));
          const ending = allowed.filter(id => ENDINGS.has(this.#tokens[id]!) || ends.has(this.#tokens[id]!));
          const preferred = allowed.filter(id => liked.has(this.#tokens[id]!));
          const takesEnd = ending.length > 0 && (liked.size > 0 || random() < 0.3);
          const from = preferred.length > 0 ? preferred : takesEnd ? ending : allowed;
          const id = from[Math.floor(random() * from.length)]!;
          if (id === 0) break;
          if (!matcher.accept(id))
            throw new Error(`The matcher refuses a token that it allows: ${this.#tokens[id]}`);
          text += this.#tokens[id];
        }
        const isWhole = count < TOKEN_LIMIT;
        matcher.dispose();
        return { text, isWhole };
      },
    };
  }

  close(): Promise<void> {
    return this.#compiler.close();
  }
}

/** Numbers in [0, 1) from a seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
