// Splits a text at the added tokens of a tokenizer (special tokens and others that BPE must not see). The splitter of the
// tokenizer library ignores `single_word` and lets a stripping token swallow other tokens; this one follows the original
// step by step.

import { EngineError } from '../errors.ts';

/** An added token as tokenizer.json writes it. */
export interface AddedTokenJson {
  readonly id: number;
  readonly content: string;
  readonly single_word: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly normalized: boolean;
  readonly special: boolean;
}

/** A piece of text: an added token, or plain text that starts at `start` of the cut text. */
export type TextSection =
  | { readonly kind: 'added'; readonly tokenId: number }
  | { readonly kind: 'plain'; readonly text: string; readonly start: number };

interface TrieNode {
  readonly children: Map<number, TrieNode>;
  token: AddedTokenJson | null;
}

/** A hundred thousand numbered tokens have this many. */
const MOST_NODES = 2 ** 20;

const WORD_BEFORE = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
const WORD_AFTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const SPACE = /\p{White_Space}/u;

/** Finds added tokens, the longest one first where several start at the same place. */
export class AddedTokenSplitter {
  readonly #root: TrieNode = { children: new Map(), token: null };

  /**
   * `contentOf` gives the text to look for: the content itself, or its normalized form. Throws: `model_invalid` for too many or too long
   * tokens.
   */
  constructor(tokens: readonly AddedTokenJson[], contentOf: (token: AddedTokenJson) => string) {
    let nodeCount = 0;
    for (const token of tokens) {
      const content = contentOf(token);
      if (content.length === 0) continue;
      let node = this.#root;
      for (let i = 0; i < content.length; i++) {
        const unit = content.charCodeAt(i);
        let child = node.children.get(unit);
        if (child === undefined) {
          if (++nodeCount > MOST_NODES) throw tooMuch();
          child = { children: new Map(), token: null };
          node.children.set(unit, child);
        }
        node = child;
      }
      node.token = token;
    }
  }

  split(text: string): TextSection[] {
    const sections: TextSection[] = [];
    let plainStart = 0;
    let at = 0;
    while (at < text.length) {
      const match = this.#longestAt(text, at);
      if (match === null) {
        at++;
        continue;
      }
      const { token, end: matchEnd } = match;
      let start = at;
      let end = matchEnd;
      at = matchEnd;
      if (token.single_word && isInsideWord(text, start, end)) continue;
      if (token.lstrip) {
        while (start > plainStart && SPACE.test(text[start - 1]!)) start--;
        // The token before may have taken this one's text as space around it.
        start = Math.max(start, plainStart);
        if (start >= end) continue;
      }
      if (token.rstrip) {
        while (end < text.length && SPACE.test(text[end]!)) end++;
      }
      if (plainStart < start) {
        sections.push({ kind: 'plain', text: text.slice(plainStart, start), start: plainStart });
      }
      sections.push({ kind: 'added', tokenId: token.id });
      plainStart = end;
    }
    if (plainStart < text.length) {
      sections.push({ kind: 'plain', text: text.slice(plainStart), start: plainStart });
    }
    return sections;
  }

  #longestAt(text: string, start: number): { token: AddedTokenJson; end: number } | null {
    let node: TrieNode | undefined = this.#root;
    let best: { token: AddedTokenJson; end: number } | null = null;
    for (let i = start; i < text.length; i++) {
      node = node.children.get(text.charCodeAt(i));
      if (node === undefined) break;
      if (node.token !== null) best = { token: node.token, end: i + 1 };
    }
    return best;
  }
}

function tooMuch(): EngineError {
  const message = `tokenizer.json of the model folder is unusable: its added tokens have more than ${MOST_NODES} different characters and places together.`;
  return new EngineError('model_invalid', message);
}

function isInsideWord(text: string, start: number, end: number): boolean {
  // Two units before are enough to see one whole character.
  return (
    WORD_BEFORE.test(text.slice(Math.max(0, start - 2), start)) || WORD_AFTER.test(text.slice(end, end + 2))
  );
}
