// Reads an answer with the parser, in pieces, and joins what it gives.

import { ToolCallParser } from '../src/parser/tool-call-parser.ts';
import type { Tool, ToolDialect } from '../src/tool-dialect.ts';

export interface ReadCall {
  readonly id: string;
  readonly name: string;
  arguments: string;
}

export interface ReadAnswer {
  text: string;
  readonly calls: ReadCall[];
}

/** Random text is `x` repeated, so that two readings of one answer are the same. */
export function readCalls(
  dialect: ToolDialect,
  tools: readonly Tool[],
  pieces: readonly string[],
): ReadAnswer {
  const parser = new ToolCallParser({ dialect, tools, randomText: length => 'x'.repeat(length) });
  const answer: ReadAnswer = { text: '', calls: [] };
  for (const parsed of [...pieces.map(piece => parser.push(piece)), parser.finish()]) {
    answer.text += parsed.text;
    for (const { index, start, arguments: json } of parsed.calls) {
      if (start !== undefined) answer.calls[index] = { ...start, arguments: '' };
      answer.calls[index]!.arguments += json;
    }
  }
  return answer;
}
