// Reads the two large tables of tokenizer.json, `model.vocab` and `model.merges`, from its bytes, and leaves the rest to
// JSON.parse.

import { EngineError } from '../../errors.ts';
import { ByteSink } from './byte-sink.ts';
import { JsonScanner } from './json-scanner.ts';
import { MergeTable } from './merge-table.ts';
import { type Vocabulary, VocabularyBuilder } from './vocabulary.ts';

/** Tables are as long as the largest id, and made on the thread that serves all requests; published vocabularies end at 262,208. */
export const TOKEN_ID_LIMIT = 2 ** 20;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** tokenizer.json without its tables, which are `null` in `rest`. */
export interface SplitTokenizerJson {
  readonly rest: unknown;
  readonly vocab: Span | undefined;
  readonly merges: Span | undefined;
}

/** Throws: `SyntaxError`. */
export function splitTokenizerJson(bytes: Uint8Array): SplitTokenizerJson {
  const spans = new Map<string, Span>();
  const scanner = new JsonScanner(bytes);
  const eachMember = (visit: (name: string) => void): void => {
    scanner.each('{', () => {
      const name = new ByteSink(16);
      scanner.readString(name);
      scanner.expect(':');
      visit(Buffer.from(name.toBytes()).toString());
    });
  };
  if (scanner.peek() === 0x7b)
    eachMember(outer => {
      if (outer !== 'model' || scanner.peek() !== 0x7b) {
        scanner.skipValue();
        return;
      }
      eachMember(inner => {
        scanner.peek();
        const start = scanner.at;
        scanner.skipValue();
        if (inner === 'vocab' || inner === 'merges') spans.set(inner, { start, end: scanner.at });
      });
    });
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of [...spans.values()].sort((a, b) => a.start - b.start)) {
    parts.push(bytes.subarray(from, start), Buffer.from('null'));
    from = end;
  }
  parts.push(bytes.subarray(from));
  const rest: unknown = JSON.parse(Buffer.concat(parts).toString());
  return { rest, vocab: spans.get('vocab'), merges: spans.get('merges') };
}

/** Throws: `model_invalid` for something else than an object of token to id. */
export function readVocabulary(bytes: Uint8Array, span: Span | undefined): Vocabulary {
  const scanner = new JsonScanner(bytes, span?.start);
  if (span === undefined || scanner.peek() !== 0x7b)
    throw invalid('"model.vocab" must be an object of token to id');
  // With its number and punctuation a token takes some ten bytes more than its text.
  const builder = new VocabularyBuilder((span.end - span.start) >> 1);
  reading('model.vocab', () =>
    scanner.each('{', () => {
      scanner.readString(builder.sink);
      scanner.expect(':');
      const id = scanner.readWholeNumber();
      if (id === undefined || id >= TOKEN_ID_LIMIT) throw wrongId(scanner, builder, id);
      builder.add(id);
    }),
  );
  return builder.build();
}

function wrongId(
  scanner: JsonScanner,
  { sink, textStart }: VocabularyBuilder,
  id: number | undefined,
): EngineError {
  scanner.peek();
  const start = scanner.at;
  if (id === undefined) scanner.skipValue();
  const shown = id ?? Buffer.from(scanner.bytes.subarray(start, scanner.at)).toString();
  const token = Buffer.from(sink.bytes.subarray(textStart, sink.length)).toString();
  const fault = `"model.vocab" gives ${JSON.stringify(token)} the id ${shown}`;
  return invalid(`${fault}, not a whole number below ${TOKEN_ID_LIMIT}`);
}

/** Merges as `"left right"` or `["left", "right"]`. Throws: `model_invalid` for others, and for tokens that are not in the vocabulary. */
export function readMerges(bytes: Uint8Array, span: Span | undefined, vocabulary: Vocabulary): MergeTable {
  const merges = new MergeTable();
  const scanner = new JsonScanner(bytes, span?.start);
  if (span === undefined || scanner.peek() !== 0x5b) throw invalid('"model.merges" must be a list');
  const pair = new ByteSink(256);
  let index = 0;
  const add = (middle: number, rightStart: number): void => {
    const { bytes: texts, length } = pair;
    const left = vocabulary.find(texts, 0, middle);
    const right = vocabulary.find(texts, rightStart, length);
    // Both texts one after the other, without the space between them.
    const gap = rightStart - middle;
    if (gap > 0) for (let i = rightStart; i < length; i++) texts[i - gap] = texts[i]!;
    const merged = vocabulary.find(texts, 0, length - gap);
    if (left === -1 || right === -1 || merged === -1)
      throw invalid(`"model.merges[${index}]" has a token that the vocabulary does not have`);
    merges.add(left, right, merged);
  };
  reading('model.merges', () =>
    scanner.each('[', () => {
      pair.length = 0;
      if (scanner.peek() === 0x22) {
        scanner.readString(pair);
        const space = onlySpace(pair);
        if (space === -1)
          throw invalid(`"model.merges[${index}]" is not a pair of tokens with a space between them`);
        add(space, space + 1);
      } else {
        scanner.expect('[');
        scanner.readString(pair);
        const middle = pair.length;
        scanner.expect(',');
        scanner.readString(pair);
        scanner.expect(']');
        add(middle, middle);
      }
      index++;
    }),
  );
  return merges;
}

/** Place of the one space in the text; -1 where it has none or several. */
function onlySpace({ bytes, length }: ByteSink): number {
  let space = -1;
  for (let at = 0; at < length; at++) {
    if (bytes[at] !== 0x20) continue;
    if (space !== -1) return -1;
    space = at;
  }
  return space;
}

function reading(place: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw invalid(`"${place}" is not as it must be (${cause.message})`, cause);
  }
}

function invalid(problem: string, cause?: unknown): EngineError {
  return new EngineError('model_invalid', `tokenizer.json of the model folder is unusable: ${problem}.`, {
    cause,
  });
}
