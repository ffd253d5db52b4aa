// Streaming reader for JSON that may be larger than memory: the caller walks the outer objects and lists and takes the inner
// values as text, each under a size limit. Their syntax is checked when the caller parses them.

import { JsonSyntaxError } from './lossless-json.ts';

/** The text of one value, exactly as it was sent. */
export interface JsonSlice {
  readonly text: string;
  /** Where the text starts in the whole. Unit: UTF-16 code units. */
  readonly position: number;
}

/** A value is longer than the reader may keep, or an object on the way to the values has too many properties. */
export class JsonSliceTooLongError extends Error {
  override readonly name = 'JsonSliceTooLongError';
}

/** Maximum length of a property name on the way to the values, and maximum number of properties of one object there. */
const MAX_KEY_LENGTH = 1_000;
const MAX_KEYS = 1_000;

/** A reader of one text. All positions count UTF-16 code units from its start. Throws: `JsonSyntaxError`. */
export class JsonTextReader {
  readonly #pieces: AsyncIterator<string>;
  #buffer = '';
  #index = 0;
  /** Position of the buffer's first character in the whole text. */
  #base = 0;

  constructor(pieces: AsyncIterable<string>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  get position(): number {
    return this.#base + this.#index;
  }

  /** The next character that is not white space, which stays unread; '' at the end of the text. */
  async peek(): Promise<string> {
    for (;;) {
      while (this.#index < this.#buffer.length) {
        const next = this.#buffer[this.#index]!;
        if (!isWhitespace(next.charCodeAt(0))) return next;
        this.#index++;
      }
      if (!(await this.#fill())) return '';
    }
  }

  /**
   * Walks the object that starts here. `onValue` must read the value of its key, whole.
   * Throws: `JsonSyntaxError` for a key that comes twice, too: of two readings neither may win silently.
   */
  async readObject(onValue: (key: string) => Promise<void>): Promise<void> {
    const seen = new Set<string>();
    await this.#readItems('{', '}', async () => {
      if ((await this.peek()) !== '"') this.#fail('Expected a property name in double quotes');
      const { text, position } = await this.takeValue(MAX_KEY_LENGTH);
      const key = parseKey(text, position);
      if (seen.has(key)) throw new JsonSyntaxError('The property name comes twice', position);
      seen.add(key);
      if (seen.size > MAX_KEYS) throw new JsonSliceTooLongError(`more than ${MAX_KEYS} properties`);
      await this.#expect(':');
      await onValue(key);
    });
  }

  /** Walks the list that starts here. `onItem` must read the item, whole. */
  async readList(onItem: (index: number) => Promise<void>): Promise<void> {
    let index = 0;
    await this.#readItems('[', ']', () => onItem(index++));
  }

  /** Throws: `JsonSyntaxError` when anything but white space follows. */
  async readEnd(): Promise<void> {
    if ((await this.peek()) !== '') this.#fail('Expected nothing after the value');
  }

  /** Takes the text of the value that starts here. Throws: `JsonSliceTooLongError`. */
  async takeValue(maxLength: number): Promise<JsonSlice> {
    const first = await this.peek();
    const position = this.position;
    const scanner = new ValueScanner(first);
    let text = '';
    for (;;) {
      const end = scanner.findEnd(this.#buffer, this.#index);
      text += this.#buffer.slice(this.#index, end);
      if (text.length > maxLength) throw new JsonSliceTooLongError(`longer than ${maxLength} characters`);
      this.#index = end;
      // An incomplete value is an error when the caller parses its text.
      if (scanner.isDone || !(await this.#fill())) return { text, position };
    }
  }

  async #readItems(opener: string, closer: string, readItem: () => Promise<void>): Promise<void> {
    await this.#expect(opener);
    if ((await this.peek()) !== closer) {
      for (;;) {
        await readItem();
        if ((await this.peek()) !== ',') break;
        this.#index++;
      }
    }
    await this.#expect(closer);
  }

  async #expect(character: string): Promise<void> {
    if ((await this.peek()) !== character) this.#fail(`Expected ${character}`);
    this.#index++;
  }

  #fail(reason: string): never {
    throw new JsonSyntaxError(reason, this.position);
  }

  /** Replaces what is read by the next piece. False at the end of the text. */
  async #fill(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done === true) return false;
    this.#base += this.#index;
    this.#buffer = this.#buffer.slice(this.#index) + value;
    this.#index = 0;
    return true;
  }
}

/** Finds where a value ends, piece by piece. */
class ValueScanner {
  isDone = false;
  readonly #isScalar: boolean;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(first: string) {
    this.#isScalar = first !== '{' && first !== '[' && first !== '"';
  }

  /** Index after the value's last character in this piece; the piece's length when the value goes on. */
  findEnd(piece: string, start: number): number {
    return this.#isScalar ? this.#findScalarEnd(piece, start) : this.#findQuotedOrNestedEnd(piece, start);
  }

  #findScalarEnd(piece: string, start: number): number {
    for (let index = start; index < piece.length; index++) {
      const code = piece.charCodeAt(index);
      if (code !== COMMA && !isCloser(code) && !isWhitespace(code)) continue;
      this.isDone = true;
      return index;
    }
    return piece.length;
  }

  // Local variables, because this loop sees every character of a body.
  #findQuotedOrNestedEnd(piece: string, start: number): number {
    let depth = this.#depth;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    for (let index = start; index < piece.length; index++) {
      const code = piece.charCodeAt(index);
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) isInString = false;
      } else if (code === QUOTE) isInString = true;
      else if (code === BRACE || code === BRACKET) depth++;
      else if (isCloser(code)) depth--;
      if (depth > 0 || isInString) continue;
      this.isDone = true;
      return index + 1;
    }
    this.#depth = depth;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
    return piece.length;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

function isCloser(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function parseKey(text: string, position: number): string {
  try {
    return JSON.parse(text) as string;
  } catch (error) {
    throw new JsonSyntaxError('Expected a property name', position, { cause: error });
  }
}
