import { describe, expect, test } from 'vitest';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { EngineError } from '../errors.ts';
import type { GenerationEvent } from '../request/generation-event.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import { ChoiceAssembler } from '../text/choice-assembler.ts';
import { Detokenizer } from '../text/detokenizer.ts';
import { REASONING_FORMATS } from '../text/reasoning/reasoning-format.ts';
import { TokenBytes } from '../text/token-bytes.ts';
import { createAnswerReader } from './answer-reader.ts';
import { Generation } from './generation.ts';

const tokenBytes = new TokenBytes(
  parseTokenizer({
    model: { type: 'BPE', vocab: { a: 0, b: 1, c: 2, '</think>': 3 }, merges: [] },
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'ByteLevel' },
  }),
);

const logprobsOf = (tokenId: number): TokenLogprobs => ({
  tokenId,
  logprob: -1,
  rank: 1,
  topTokenIds: new Int32Array(0),
  topLogprobs: new Float32Array(0),
});

const assembler = (stopStrings: readonly string[] = []) =>
  new ChoiceAssembler({
    detokenizer: new Detokenizer(tokenBytes, { skipSpecialTokens: true }),
    stopStrings,
    includeStopInOutput: false,
    minTokens: 0,
  });

async function readAll(generation: Generation): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = [];
  for (let event = await generation.next(); event !== null; event = await generation.next())
    events.push(event);
  return events;
}

const plain = () => createAnswerReader(null, null);

describe('Generation', () => {
  test('ends the other choices when the check of one fails the request, read or not', async () => {
    const aborted: number[] = [];
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [assembler(), assembler(), assembler()],
      readers: [plain(), plain(), plain()],
      tokenBytes,
      eosTokenIds: [2],
      checkAnswer: () => Promise.reject(new EngineError('overloaded', 'Too many texts wait.')),
      findPosition: null,
      abortChoice: choiceIndex => aborted.push(choiceIndex),
      setChoicePaused: () => undefined,
    });
    const stop = { reason: 'stop', stopTokenId: null } as const;
    generation.update({ requestId: 1, choiceIndex: 1, tokenIds: [0, 2], finish: stop });
    await Promise.resolve();
    expect(generation.isOver).toBe(true);
    expect(aborted).toEqual([0, 2]);
    await expect(generation.next()).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('ends a choice whose constraint failed with a finish that says so, also when it is the only one', async () => {
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [assembler()],
      readers: [plain()],
      tokenBytes,
      eosTokenIds: [2],
      checkAnswer: () => Promise.reject(new EngineError('constraint_failed', 'It breaks uniqueItems.')),
      findPosition: null,
      abortChoice: () => undefined,
      setChoicePaused: () => undefined,
    });
    const stop = { reason: 'stop', stopTokenId: null } as const;
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [0, 2], finish: stop });
    const events = await readAll(generation);
    // Its last tokens are in the answer: a step may bring them alone, or with others that were drafted.
    expect(events).toMatchObject([
      { text: 'a', tokenIds: [0, 2], finish: { reason: 'error', stopReason: 'constraint_failed' } },
      { kind: 'request-finish', usage: { completionTokenCount: 2 } },
    ]);
  });

  test.each([
    { tokenIds: [1], rest: 'ba', all: [0, 1, 0] },
    { tokenIds: [], rest: 'a', all: [0, 0] },
  ])(
    'ends a choice that failed on the token side with the tokens before the fault, and with text that may have begun a stop string: $rest',
    async ({ tokenIds, rest, all }) => {
      const generation = new Generation({
        promptTokenIds: Int32Array.of(2),
        assemblers: [assembler(['ac'])],
        readers: [plain()],
        tokenBytes,
        eosTokenIds: [2],
        checkAnswer: null,
        findPosition: null,
        abortChoice: () => undefined,
        setChoicePaused: () => undefined,
      });
      generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [0] });
      const failure = { code: 'constraint_failed', message: 'Too large.' } as const;
      generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [...tokenIds, 0], failure });
      const deltas = (await readAll(generation)).filter(event => event.kind === 'token-delta');
      expect(deltas.map(({ text }) => text).join('')).toBe(`a${rest}`);
      expect(deltas.flatMap(delta => delta.tokenIds)).toEqual(all);
      expect(deltas.at(-1)?.finish).toEqual({ reason: 'error', stopReason: 'constraint_failed' });
    },
  );

  test('reports the decode time, however late it is read', async () => {
    let nowMs = 100;
    const timing = { queuedMs: 1, prefillMs: 2 };
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [assembler([])],
      readers: [plain()],
      tokenBytes,
      eosTokenIds: [],
      checkAnswer: null,
      findPosition: null,
      abortChoice: () => undefined,
      setChoicePaused: () => undefined,
      now: () => nowMs,
    });
    generation.start({ requestId: 1, cachedTokenCount: 0, timing });
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [0] });
    nowMs += 30;
    const finish = { reason: 'length', stopTokenId: null } as const;
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [1], finish });
    nowMs += 1_000;
    const events = await readAll(generation);
    expect(events[0]).toMatchObject({ kind: 'prompt-ready', timing });
    expect(events.at(-1)).toMatchObject({ kind: 'request-finish', decodeMs: 30 });
  });

  test('drops the log probabilities of tokens that came after a stop string with it', async () => {
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [assembler(['b'])],
      readers: [plain()],
      tokenBytes,
      eosTokenIds: [],
      checkAnswer: null,
      findPosition: null,
      abortChoice: () => undefined,
      setChoicePaused: () => undefined,
    });
    generation.start({ requestId: 1, cachedTokenCount: 0, timing: { queuedMs: 1, prefillMs: 2 } });
    const tokenIds = [0, 1, 2];
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds, logprobs: tokenIds.map(logprobsOf) });
    const events = await readAll(generation);
    expect(events[1]).toMatchObject({
      kind: 'token-delta',
      text: 'a',
      finish: { reason: 'stop', stopReason: 'b' },
      tokenIds: [0, 1],
      logprobs: [{ text: 'a' }, { text: 'b' }],
    });
    expect(events[1]).toHaveProperty('logprobs.length', 2);
  });

  test.each([
    { come: 'with one step', steps: [[0, 1, 3, 2, 0]] },
    { come: 'before they are read', steps: [[0], [1], [3], [2], [0]] },
    {
      come: 'in both ways',
      steps: [
        [0, 1, 3],
        [2, 0],
      ],
    },
  ])('keeps tokens of the reasoning apart from those of the answer that come $come', async ({ steps }) => {
    const { format } = REASONING_FORMATS.think;
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [assembler()],
      readers: [createAnswerReader({ format, start: 'open', specialIds: new Set() }, null)],
      tokenBytes,
      eosTokenIds: [],
      checkAnswer: null,
      findPosition: null,
      abortChoice: () => undefined,
      setChoicePaused: () => undefined,
    });
    generation.start({ requestId: 1, cachedTokenCount: 0, timing: { queuedMs: 1, prefillMs: 2 } });
    for (const tokenIds of steps)
      generation.update({ requestId: 1, choiceIndex: 0, tokenIds, logprobs: tokenIds.map(logprobsOf) });
    const finish = { reason: 'length', stopTokenId: null } as const;
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds: [1], logprobs: [logprobsOf(1)], finish });
    const [, thought, ...answer] = await readAll(generation);
    expect(thought).toMatchObject({ reasoning: 'ab', isReasoning: true, text: '', tokenIds: [0, 1, 3] });
    expect(thought).toHaveProperty('logprobs.length', 3);
    expect(answer).toMatchObject([
      { reasoning: '', isReasoning: false, text: 'ca', tokenIds: [2, 0] },
      { text: 'b', tokenIds: [1], finish: { reason: 'length' } },
      { kind: 'request-finish' },
    ]);
  });
});
