// The engine from request to events, over a scripted model in this thread.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { GenerationRequest, StopConditions } from '../src/request/generation-request.ts';
import type { LinkedEngine } from '../src/text-side/linked-engine.ts';
import { choiceOf, collect, createScriptedEngine, echoText, type ScriptedEngine } from './scripted-engine.ts';

const TEXT = 'Hello 👨‍👩‍👧‍👦 日本語 Привет, world. Hello again!';
const END_OF_TEXT = 0;
/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };

let scripted: ScriptedEngine;
let engine: LinkedEngine;
beforeAll(async () => {
  scripted = await createScriptedEngine();
  engine = scripted.engine;
});
afterAll(() => scripted.close());

const generate = async (text: string, stop: StopConditions = {}, more: Partial<GenerationRequest> = {}) =>
  collect(engine.generate(await echoText(engine, text, { stop, ...more })));

describe('events', () => {
  test('come in order: prompt, deltas and ends, usage last', async () => {
    const events = await generate(TEXT);
    const kinds = events.map(event => event.kind);
    expect(kinds[0]).toBe('prompt-ready');
    expect(kinds.at(-1)).toBe('request-finish');
    expect(new Set(kinds.slice(1, -1))).toEqual(new Set(['token-delta']));
    const isLast = events.map(event => event.kind === 'token-delta' && event.finish !== null);
    expect(isLast.indexOf(true)).toBe(events.length - 2);
  });

  test('joined are the text of the joined ids, the end of sequence counted but not shown', async () => {
    const events = await generate(TEXT);
    const { text, tokenIds, finish } = choiceOf(events);
    expect(text).toBe(TEXT.normalize('NFKC'));
    expect(tokenIds.at(-1)).toBe(END_OF_TEXT);
    expect(finish).toEqual({ reason: 'stop', stopReason: null });
    const ready = events[0]!;
    if (ready.kind !== 'prompt-ready') throw new Error(`The first event is ${ready.kind}.`);
    const { length } = ready.promptTokenIds;
    // The tests before this one have asked for the same text.
    expect(ready.cachedTokenCount).toBe(length - 1);
    expect(events.at(-1)).toEqual({
      kind: 'request-finish',
      usage: { promptTokenCount: length, completionTokenCount: length, cachedTokenCount: length - 1 },
      decodeMs: expect.any(Number),
    });
  });

  test('never cut a character, whatever the model says', async () => {
    const random = await createScriptedEngine({ peak: 0 });
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.bigInt({ min: 0n, max: 2n ** 40n }),
          fc.integer({ min: 1, max: 4 }),
          async (seed, choiceCount) => {
            const request = await echoText(random.engine, 'a', {
              sampling: { seed },
              choiceCount,
              stop: { maxTokens: 40 },
            });
            const events = await collect(random.engine.generate(request));
            let completionTokenCount = 0;
            for (let index = 0; index < choiceCount; index++) {
              const { text, tokenIds, finish } = choiceOf(events, index);
              completionTokenCount += tokenIds.length;
              const shown = finish?.reason === 'stop' ? tokenIds.slice(0, -1) : tokenIds;
              const whole = random.engine.decode(shown, { skipSpecialTokens: true });
              // An unfinished character at the very end is not sent.
              expect([whole, whole.replace(/\ufffd$/, '')]).toContain(text);
            }
            expect(events.at(-1)).toMatchObject({ usage: { completionTokenCount } });
          },
        ),
        { numRuns: 40 },
      );
    } finally {
      await random.close();
    }
  });

  test('of the same seed are the same, and choice i is the single choice of seed + i', async () => {
    const random = await createScriptedEngine({ peak: 0 });
    try {
      const run = async (seed: bigint, choiceCount: number) =>
        collect(
          random.engine.generate(
            await echoText(random.engine, 'a', { sampling: { seed }, choiceCount, stop: { maxTokens: 20 } }),
          ),
        );
      const both = await run(7n, 2);
      expect(choiceOf(both, 0)).toEqual(choiceOf(await run(7n, 1)));
      expect(choiceOf(both, 1)).toEqual(choiceOf(await run(8n, 1)));
    } finally {
      await random.close();
    }
  });
});

test('refuses to decode what is not a token id, and to encode what is not text', async () => {
  for (const id of [-1, 1.5, engine.info.vocabSize])
    expect(() => engine.decode([0, id])).toThrow(
      expect.objectContaining({ code: 'invalid_request', parameter: 'tokenIds[1]' }),
    );
  await expect(engine.encode(5 as unknown as string)).rejects.toMatchObject({
    code: 'invalid_request',
    parameter: 'text',
  });
});

describe('stop conditions', () => {
  test('a stop string cuts the text, counts the tokens up to it and ends only its choice', async () => {
    const events = await generate(
      TEXT,
      { strings: ['nothing', 'world'] },
      { choiceCount: 2, sampling: { temperature: 1 } },
    );
    for (const index of [0, 1]) {
      const { text, finish, tokenIds } = choiceOf(events, index);
      expect(text).toBe(TEXT.slice(0, TEXT.indexOf('world')));
      expect(finish).toEqual({ reason: 'stop', stopReason: 'world' });
      expect(engine.decode(tokenIds)).toContain('world');
      expect(engine.decode(tokenIds.slice(0, -1))).not.toContain('world');
    }
    const { tokenIds } = choiceOf(events);
    expect(events.at(-1)).toMatchObject({ usage: { completionTokenCount: tokenIds.length * 2 } });
  });

  test('includeInOutput keeps the stop string and, for a visible stop token, its text', async () => {
    const cut = choiceOf(await generate(TEXT, { strings: ['world'], includeInOutput: true }));
    expect(cut.text).toBe(TEXT.slice(0, TEXT.indexOf('world') + 5));
    const shown = choiceOf(await generate('Hello', { includeInOutput: true }, { skipSpecialTokens: false }));
    expect(shown.text).toBe('Hello<|endoftext|>');
  });

  test('a stop token gives its id as the reason and no text', async () => {
    const [, second] = await engine.encode('Hello world');
    const { text, finish } = choiceOf(await generate('Hello world', { tokenIds: [second!] }));
    expect(finish).toEqual({ reason: 'stop', stopReason: second });
    expect(text).toBe(engine.decode([(await engine.encode('Hello world'))[0]!]));
  });

  test('a stop string on the last allowed token is a stop, not a length', async () => {
    const ids = await engine.encode('Hello world');
    const { finish } = choiceOf(await generate('Hello world', { strings: ['world'], maxTokens: ids.length }));
    expect(finish).toEqual({ reason: 'stop', stopReason: 'world' });
    expect(choiceOf(await generate('Hello world', { maxTokens: ids.length })).finish).toEqual({
      reason: 'length',
      stopReason: null,
    });
  });

  test('minTokens hides stop strings that were complete before', async () => {
    const ids = await engine.encode('ab ab ab');
    const cut = choiceOf(await generate('ab ab ab', { strings: ['ab'], minTokens: ids.length - 1 }));
    expect(cut.text.startsWith('ab')).toBe(true);
  });

  test('ignoreEos goes on to the maximum of tokens, and explicit stop tokens still end', async () => {
    const long = choiceOf(await generate('Hi', { ignoreEos: true, maxTokens: 9 }));
    expect(long).toMatchObject({ text: 'Hi', finish: { reason: 'length' } });
    expect(long.tokenIds.length).toBe(9);
    const stopped = choiceOf(await generate('Hi', { ignoreEos: true, tokenIds: [END_OF_TEXT] }));
    expect(stopped.finish).toEqual({ reason: 'stop', stopReason: END_OF_TEXT });
  });

  test('minTokens keeps an ignored end of sequence from being drawn, as vLLM does', async () => {
    const hello = await engine.encode('Hi');
    const free = choiceOf(await generate('Hi', { ignoreEos: true, maxTokens: 9 }));
    expect(free.tokenIds).toEqual([...hello, ...Array(9 - hello.length).fill(END_OF_TEXT)]);
    const minTokens = hello.length + 2;
    const held = choiceOf(await generate('Hi', { ignoreEos: true, maxTokens: 9, minTokens }));
    expect(held.tokenIds.indexOf(END_OF_TEXT)).toBe(minTokens);
    expect(held.finish).toEqual({ reason: 'length', stopReason: null });
  });

  test('without the defaults of the model an answer has the whole context, and ends where it ended', async () => {
    const generationConfig = {
      eos_token_id: [END_OF_TEXT, 3],
      max_new_tokens: 5,
      temperature: 0.5,
      top_k: 1,
    };
    const neutral = await createScriptedEngine({ generationConfig, modelDefaults: false });
    const advised = await createScriptedEngine({ generationConfig });
    try {
      expect(advised.engine.info.samplingDefaults).toEqual({ temperature: 0.5, topK: 1 });
      expect(neutral.engine.info.samplingDefaults).toEqual({});
      expect(neutral.engine.info.eosTokenIds).toEqual(advised.engine.info.eosTokenIds);
      const text = 'a b c d e f g h';
      const answer = async ({ engine }: typeof neutral) =>
        choiceOf(await collect(engine.generate(await echoText(engine, text))));
      expect((await answer(advised)).finish?.reason).toBe('length');
      expect(await answer(neutral)).toMatchObject({ text, finish: { reason: 'stop' } });
    } finally {
      await neutral.close();
      await advised.close();
    }
  });

  test("a model's other end-of-sequence ids give their id as the reason", async () => {
    const other = await createScriptedEngine({
      generationConfig: { eos_token_id: [END_OF_TEXT, 3], max_new_tokens: 5 },
    });
    try {
      expect(other.engine.info.eosTokenIds).toEqual([END_OF_TEXT, 3]);
      const request: GenerationRequest = {
        prompt: { tokenIds: [10, 3, 11, 1] },
        sampling: { temperature: 0 },
      };
      expect(choiceOf(await collect(other.engine.generate(request))).finish).toEqual({
        reason: 'stop',
        stopReason: 3,
      });
      const long = await echoText(other.engine, 'a b c d e f g h');
      expect(choiceOf(await collect(other.engine.generate(long)))).toMatchObject({
        finish: { reason: 'length' },
      });
    } finally {
      await other.close();
    }
  });
});

describe('refusals come before any event and name the parameter', () => {
  const cases: readonly [string, Partial<GenerationRequest>, string, string][] = [
    ['an empty stop string', { stop: { strings: ['a', ''] } }, 'invalid_request', 'stop.strings[1]'],
    ['half a surrogate pair', { stop: { strings: ['\ud83d'] } }, 'invalid_request', 'stop.strings[0]'],
    ['65 stop strings', { stop: { strings: Array(65).fill('a') } }, 'invalid_request', 'stop.strings'],
    [
      'a stop id outside the vocabulary',
      { stop: { tokenIds: [5, 600] } },
      'invalid_request',
      'stop.tokenIds[1]',
    ],
    ['no tokens', { stop: { maxTokens: 0 } }, 'invalid_request', 'stop.maxTokens'],
    ['more tokens than the context', { stop: { maxTokens: 257 } }, 'invalid_request', 'stop.maxTokens'],
    [
      'more minimum than maximum',
      { stop: { maxTokens: 2, minTokens: 3 } },
      'invalid_request',
      'stop.minTokens',
    ],
    [
      'a minimum above the rest of the context',
      { stop: { minTokens: 256 } },
      'invalid_request',
      'stop.minTokens',
    ],
    ['tokens that do not fit beside the prompt', { stop: { maxTokens: 256 } }, 'prompt_too_long', 'prompt'],
    ['a temperature of 3', { sampling: { temperature: 3 } }, 'invalid_request', 'sampling.temperature'],
    [
      'two greedy choices',
      { choiceCount: 2, sampling: { temperature: 0 } },
      'invalid_request',
      'choiceCount',
    ],
    ['no choice', { choiceCount: 0 }, 'invalid_request', 'choiceCount'],
    ['an empty prompt', { prompt: { tokenIds: [] } }, 'invalid_request', 'prompt'],
    [
      'a prompt id outside the vocabulary',
      { prompt: { tokenIds: [-1] } },
      'invalid_request',
      'prompt.tokenIds[0]',
    ],
    ['no messages', { prompt: { messages: [] } }, 'invalid_request', 'prompt.messages'],
    ['a full context', { prompt: { tokenIds: Array(256).fill(5) } }, 'prompt_too_long', 'prompt'],
  ];
  test.each(cases)('%s', async (_, more, code, parameter) => {
    const request = await echoText(engine, 'Hi', more);
    await expect(collect(engine.generate(request))).rejects.toMatchObject({ code, parameter });
  });
});

describe('leaving early', () => {
  test('ending the loop frees the slot within a step', async () => {
    const request = await echoText(engine, 'Hi', { stop: { ignoreEos: true } });
    for await (const event of engine.generate(request)) if (event.kind === 'token-delta') break;
    const steps = engine.health.stats.stepCount;
    await collect(engine.generate(await echoText(engine, 'Hi')));
    expect(engine.health.stats.runningCount).toBe(0);
    expect(engine.health.stats.stepCount - steps).toBeLessThan(20);
  });

  test('a signal that is not an AbortSignal is refused', async () => {
    const signal = 'soon' as unknown as AbortSignal;
    const request = await echoText(engine, 'Hi');
    await expect(collect(engine.generate(request, { signal }))).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'signal must be an AbortSignal; got "soon".',
    });
  });

  test('the signal ends the request with `aborted`, before and while it runs', async () => {
    const controller = new AbortController();
    const request = await echoText(engine, 'Hi', { stop: { ignoreEos: true } });
    const kinds: string[] = [];
    await expect(async () => {
      for await (const event of engine.generate(request, { signal: controller.signal })) {
        kinds.push(event.kind);
        controller.abort();
      }
    }).rejects.toMatchObject({ code: 'aborted' });
    expect(kinds[0]).toBe('prompt-ready');
    await expect(collect(engine.generate(request, { signal: controller.signal }))).rejects.toMatchObject({
      code: 'aborted',
    });
    await collect(engine.generate(await echoText(engine, 'Hi')));
    expect(engine.health.stats.runningCount).toBe(0);
  });

  test('one request that is left does not touch another', async () => {
    const left = engine.generate(await echoText(engine, 'left', { stop: { ignoreEos: true } }));
    const stays = collect(engine.generate(await echoText(engine, TEXT)));
    for await (const event of left) if (event.kind === 'token-delta') break;
    expect(choiceOf(await stays).text).toBe(TEXT.normalize('NFKC'));
  });
});

describe('slow readers', () => {
  test('get merged deltas with the same text', async () => {
    const events = [];
    for await (const event of engine.generate(await echoText(engine, TEXT))) {
      events.push(event);
      if (events.length === 2) await new Promise(resolve => setTimeout(resolve, 100));
    }
    expect(choiceOf(events).text).toBe(TEXT.normalize('NFKC'));
    expect(events.length).toBeLessThan(8);
  });

  test('that are far behind are not computed for, give their slot to others, and miss nothing', async () => {
    // One token a step, so that steps count tokens.
    const core = { contextLength: 1_000, maxSequences: 1, tuning: { speculativeDecoding: 'off' } } as const;
    const small = await createScriptedEngine({ core });
    try {
      const stop = { ignoreEos: true, maxTokens: 900 };
      const slow = small.engine.generate(await echoText(small.engine, 'slow', { stop }));
      const events = [(await slow.next()).value!];
      await vi.waitFor(() => {
        expect(small.engine.health.stats.stepCount).toBeGreaterThan(200);
        expect(small.engine.health.stats.stepCount).toBeLessThan(300);
      }, PATIENCE);
      // The only slot is taken by a sequence whose events are not read.
      const other = await collect(small.engine.generate(await echoText(small.engine, TEXT)));
      expect(choiceOf(other).text).toBe(TEXT.normalize('NFKC'));
      expect(small.engine.health.stats).toMatchObject({ preemptionCount: 1, waitingCount: 1 });
      for await (const event of slow) events.push(event);
      expect(choiceOf(events).tokenIds).toHaveLength(900);
      expect(choiceOf(events).text).toMatch(/^slow/);
    } finally {
      await small.close();
    }
  });
});

describe('closing', () => {
  // A timer of Node with a longer delay than it can have would fire at once.
  test.each([{ deadlineMs: 5_000 }, { deadlineMs: Infinity }])(
    'waits for open requests up to a deadline of $deadlineMs ms and refuses new ones',
    async options => {
      const closing = await createScriptedEngine({ delayMs: 1 });
      const running = collect(closing.engine.generate(await echoText(closing.engine, 'Hello world')));
      await new Promise(resolve => setTimeout(resolve, 5));
      const request = await echoText(closing.engine, 'Hi');
      const closed = closing.engine.close(options);
      await expect(collect(closing.engine.generate(request))).rejects.toMatchObject({
        code: 'engine_closed',
      });
      expect(choiceOf(await running).text).toBe('Hello world');
      await closed;
      expect(closing.engine.health.state).toBe('closed');
      await closing.close();
    },
  );

  test('ends what is open when the deadline has passed', async () => {
    const closing = await createScriptedEngine({ delayMs: 2 });
    const request = await echoText(closing.engine, 'Hi', { stop: { ignoreEos: true } });
    const running = collect(closing.engine.generate(request));
    const failure = expect(running).rejects.toMatchObject({ code: 'engine_closed' });
    await new Promise(resolve => setTimeout(resolve, 20));
    await closing.engine.close({ deadlineMs: 10 });
    await failure;
    await closing.close();
  });

  test('comes with the end of a block that disposes of the engine', async () => {
    const closing = await createScriptedEngine();
    {
      await using disposed = closing.engine;
      expect(disposed.health.state).toBe('ready');
    }
    expect(closing.engine.health.state).toBe('closed');
    await closing.close();
  });
});

describe('chats', () => {
  test('are rendered by the template of the model, its special tokens and all', async () => {
    const messages = [{ role: 'user', content: 'Hello again' }];
    expect(await engine.renderChat(messages)).toBe('Hello again<|im_start|>');
    const events = await collect(engine.generate({ prompt: { messages }, sampling: { temperature: 0 } }));
    expect(choiceOf(events).text).toBe('Hello again');
  });

  test('may write special tokens in their content, which count as such: the text is encoded as a whole', async () => {
    const messages = [{ role: 'user', content: 'a<|endoftext|>b' }];
    const events = await collect(
      engine.generate({
        prompt: { messages },
        sampling: { temperature: 0 },
        stop: { maxTokens: 1 },
      }),
    );
    const ready = events.find(event => event.kind === 'prompt-ready');
    const [a, b] = [await engine.encode('a'), await engine.encode('b')];
    expect(ready?.promptTokenIds).toEqual([...a, END_OF_TEXT, ...b, 1]);
  });

  test('fail with a template that cannot be parsed, which the facts of the model say; prompts work', async () => {
    const broken = await createScriptedEngine({ ownTemplate: '{{ messages }}\n{% if %}' });
    expect(broken.engine.info.templateNote).toMatch(/^The chat template cannot be parsed at line 2: /);
    const chat = broken.engine.renderChat([{ role: 'user', content: 'a' }]);
    await expect(chat).rejects.toMatchObject({ code: 'template_failed' });
    const events = await collect(broken.engine.generate(await echoText(broken.engine, 'a')));
    expect(choiceOf(events).text).toBe('a');
    await broken.close();
    expect(engine.info.templateNote).toBeUndefined();
  });
});
