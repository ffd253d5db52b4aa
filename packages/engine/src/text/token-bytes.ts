// Maps token ids to raw bytes, for every kind of vocabulary that the tokenizer accepts: one flat byte array with offsets,
// built once. The detokenizer reads it for every generated token, and constraints get it as their vocabulary.

import { EngineError } from '../errors.ts';
import { ByteSink } from './bpe/byte-sink.ts';
import { BYTE_OF_CHARACTER } from './stages/byte-characters.ts';
import { type StageJson, stagesOf } from './stages/stage.ts';
import type { TokenizerJson } from './tokenizer-json.ts';

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
    const { vocabulary } = json.model;
    const added = new Map(json.added_tokens.map(token => [token.id, token]));
    this.size = json.added_tokens.reduce((size, { id }) => Math.max(size, id + 1), vocabulary.size);
    this.#offsets = new Uint32Array(this.size + 1);
    this.#flags = new Uint8Array(this.size);
    const sink = new ByteSink(this.size * 8);
    let longest = 0;
    for (let id = 0; id < this.size; id++) {
      const token = added.get(id);
      const text = token === undefined ? vocabulary.bytesOf(id) : Buffer.from(token.content);
      const hasMarks = writeBytes(text, scheme, sink);
      this.#flags[id] = (hasMarks ? HAS_MARKS : 0) | (token?.special ? IS_SPECIAL : 0);
      this.#offsets[id + 1] = sink.length;
      longest = Math.max(longest, sink.length - this.#offsets[id]!);
    }
    this.longestLength = longest;
    this.#bytes = sink.toBytes();
  }

  /** A copy of all bytes one after the other, and where each id's begin; one offset more than there are ids. */
  toTable(): { readonly bytes: Uint8Array<ArrayBuffer>; readonly offsets: Uint32Array<ArrayBuffer> } {
    return { bytes: this.#bytes.slice(), offsets: this.#offsets.slice() };
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

/** Appends the bytes that a token's text stands for. Returns whether it has marks. Mutates: `sink`. */
function writeBytes(text: Uint8Array, { kind, hasByteFallback }: Scheme, sink: ByteSink): boolean {
  const fallback = hasByteFallback ? fallbackByte(text) : null;
  if (fallback !== null) {
    sink.push(fallback);
    return false;
  }
  if (kind === 'marks') return writeMarked(text, sink);
  if (!writeByteLevel(text, sink)) for (const byte of text) sink.push(byte);
  return false;
}

/** The mark in UTF-8. */
const [MARK_0, MARK_1, MARK_2] = [0xe2, 0x96, 0x81];

function writeMarked(text: Uint8Array, sink: ByteSink): boolean {
  let hasMarks = false;
  for (let at = 0; at < text.length; at++) {
    const isMark = text[at] === MARK_0 && text[at + 1] === MARK_1 && text[at + 2] === MARK_2;
    sink.push(isMark ? 0x20 : text[at]!);
    if (isMark) {
      hasMarks = true;
      at += 2;
    }
  }
  return hasMarks;
}

const FALLBACK = /^<0x([0-9A-Fa-f]{2})>$/;

function fallbackByte(text: Uint8Array): number | null {
  if (text.length !== 6 || text[0] !== 0x3c) return null;
  const match = FALLBACK.exec(Buffer.from(text).toString());
  return match === null ? null : Number.parseInt(match[1]!, 16);
}

/**
 * False, and nothing is appended, when a character is outside the alphabet: such tokens (added ones) stand for their own text. The
 * alphabet ends below U+0800, so that its characters have one or two bytes.
 */
function writeByteLevel(text: Uint8Array, sink: ByteSink): boolean {
  const start = sink.length;
  for (let at = 0; at < text.length; at++) {
    const first = text[at]!;
    const code = first < 0x80 ? first : ((first & 0x1f) << 6) | (text[++at]! & 0x3f);
    const byte = first < 0xe0 ? (BYTE_OF_CHARACTER[code] ?? -1) : -1;
    if (byte === -1) {
      sink.length = start;
      return false;
    }
    sink.push(byte);
  }
  return true;
}
