// Maps token ids to raw bytes, for every kind of vocabulary that the tokenizer accepts: one flat byte array with offsets,
// built once. The detokenizer reads it for every generated token, and constraints get it as their vocabulary.

import { EngineError } from '../errors.ts';
import type { StageJson, TokenizerJson } from './tokenizer-json.ts';
import { stagesOf } from './tokenizer-stages.ts';

/** The prefix that the first token of a text loses, the rule of sentencepiece. */
export type TextStartRule = 'keep' | 'strip-one-space' | 'strip-marks';

const SPACE_MARK = '▁';
const IS_SPECIAL = 1;
const HAS_MARKS = 2;

/** Unit: bytes. `bytesOf` is a view into one shared array; do not write to it. */
export class TokenBytes {
  readonly size: number;
  readonly longestLength: number;
  readonly textStartRule: TextStartRule;
  /** One U+FFFD for each bad byte of byte-fallback tokens, where byte-level vocabularies follow the UTF-8 rules. */
  readonly replacesEachByte: boolean;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #flags: Uint8Array;

  constructor(json: TokenizerJson) {
    const scheme = readScheme(json.decoder);
    this.textStartRule = scheme.textStartRule;
    this.replacesEachByte = scheme.kind === 'marks';
    const tokens = collectTokens(json);
    const encoder = new TextEncoder();
    const parts: Uint8Array[] = [];
    this.size = tokens.length;
    this.#offsets = new Uint32Array(tokens.length + 1);
    this.#flags = new Uint8Array(tokens.length);
    let total = 0;
    let longest = 0;
    for (let id = 0; id < tokens.length; id++) {
      const token = tokens[id];
      this.#offsets[id] = total;
      if (token === undefined) continue;
      let part: Uint8Array;
      const fallback = scheme.hasByteFallback ? fallbackByte(token.text) : null;
      if (fallback !== null) {
        part = Uint8Array.of(fallback);
      } else if (scheme.kind === 'marks') {
        part = encoder.encode(token.text.replaceAll(SPACE_MARK, ' '));
        if (token.text.includes(SPACE_MARK)) this.#flags[id] = HAS_MARKS;
      } else {
        part = byteLevelBytes(token.text) ?? encoder.encode(token.text);
      }
      if (token.isSpecial) this.#flags[id]! |= IS_SPECIAL;
      parts.push(part);
      total += part.length;
      longest = Math.max(longest, part.length);
    }
    this.#offsets[tokens.length] = total;
    this.longestLength = longest;
    this.#bytes = new Uint8Array(total);
    let at = 0;
    for (const part of parts) {
      this.#bytes.set(part, at);
      at += part.length;
    }
  }

  /** Empty for ids that the vocabulary does not have. */
  bytesOf(id: number): Uint8Array {
    if (id < 0 || id >= this.size) return EMPTY;
    return this.#bytes.subarray(this.#offsets[id], this.#offsets[id + 1]);
  }

  isSpecial(id: number): boolean {
    return id >= 0 && id < this.size && (this.#flags[id]! & IS_SPECIAL) !== 0;
  }

  /** Whether spaces of the token are written as marks (`▁`), not as a raw byte (`<0x20>`) or as they are. */
  hasMarks(id: number): boolean {
    return id >= 0 && id < this.size && (this.#flags[id]! & HAS_MARKS) !== 0;
  }
}

const EMPTY = new Uint8Array(0);

interface Scheme {
  readonly kind: 'byte-level' | 'marks';
  readonly hasByteFallback: boolean;
  readonly textStartRule: TextStartRule;
}

/** Reads off the decoder how token texts stand for bytes. Throws: `model_invalid`. */
function readScheme(decoder: StageJson | null): Scheme {
  const stages = stagesOf(decoder, 'decoders');
  if (stages.length === 1 && stages[0]!.type === 'ByteLevel') {
    return { kind: 'byte-level', hasByteFallback: false, textStartRule: 'keep' };
  }
  let hasMarks = false;
  let hasByteFallback = false;
  let textStartRule: TextStartRule = 'keep';
  for (const stage of stages) {
    switch (stage.type) {
      case 'Replace': {
        const pattern = (stage.pattern ?? {}) as { String?: string };
        if (pattern.String !== SPACE_MARK || stage.content !== ' ')
          throw unsupported('Replace of another text');
        hasMarks = true;
        break;
      }
      case 'Metaspace':
        if ((stage.replacement ?? SPACE_MARK) !== SPACE_MARK)
          throw unsupported('Metaspace with another mark');
        hasMarks = true;
        if (stage.prepend_scheme !== 'never' && stage.add_prefix_space !== false)
          textStartRule = 'strip-marks';
        break;
      case 'ByteFallback':
        hasByteFallback = true;
        break;
      case 'Fuse':
        break;
      case 'Strip':
        if (stage.content !== ' ' || stage.start !== 1 || stage.stop !== 0) throw unsupported('Strip');
        textStartRule = 'strip-one-space';
        break;
      default:
        throw unsupported(stage.type);
    }
  }
  if (!hasMarks) throw unsupported(decoder === null ? 'none' : decoder.type);
  return { kind: 'marks', hasByteFallback, textStartRule };
}

function unsupported(found: string): EngineError {
  return new EngineError(
    'model_invalid',
    `tokenizer.json of the model folder has the decoder "${found}", which is not supported; supported: ByteLevel, or a Sequence of Replace "▁", Metaspace, ByteFallback, Fuse and Strip of one leading space.`,
  );
}

function collectTokens(json: TokenizerJson): ({ text: string; isSpecial: boolean } | undefined)[] {
  const entries = Object.entries(json.model.vocab);
  let size = 0;
  for (const [, id] of entries) size = Math.max(size, id + 1);
  for (const token of json.added_tokens) size = Math.max(size, token.id + 1);
  const tokens = new Array<{ text: string; isSpecial: boolean } | undefined>(size);
  for (const [text, id] of entries) tokens[id] = { text, isSpecial: false };
  for (const token of json.added_tokens) tokens[token.id] = { text: token.content, isSpecial: token.special };
  return tokens;
}

function fallbackByte(text: string): number | null {
  const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(text);
  return match === null ? null : Number.parseInt(match[1]!, 16);
}

/** The byte behind each character of GPT-2's printable alphabet. Source: openai/gpt-2 `bytes_to_unicode`. */
const BYTE_OF_CHARACTER: ReadonlyMap<number, number> = (() => {
  const table = new Map<number, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    table.set(isPrintable ? byte : next++, byte);
  }
  return table;
})();

/** Null when a character is outside the alphabet: such tokens (added ones) stand for their own text. */
function byteLevelBytes(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(text.charCodeAt(i));
    if (byte === undefined) return null;
    bytes[i] = byte;
  }
  return bytes;
}
