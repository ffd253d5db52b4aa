// Structured outputs of the demo model over REST: whatever it finishes is valid, whatever else the request asks for.
// `TEST_RUNS=50` tries fifty times the random ones.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatClient, createChatClient, type Json, USER } from '../support/chat-client.ts';
import { type RandomConstraint, randomConstraints } from '../support/random-constraints.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const RUNS = runs({ daily: 40, full: 40 });
const BATCH = 8;

let server: RunningServer;
let client: ChatClient;
beforeAll(async () => {
  // A machine with other work may take seconds for what takes a millisecond.
  server = await startServer({ arguments: ['--constraint-time-limit-ms', '30000'] });
  client = createChatClient(server);
});
afterAll(() => server?.dispose());

const contentOf = ({ choices }: Json, index = 0): string => choices[index].message.content;

describe('answers at temperature 1.5 under random constraints', () => {
  it('are valid when they are finished, and beginnings when they are cut', {
    timeout: 3_600_000,
  }, async () => {
    const constraints = fc.sample(randomConstraints, { numRuns: RUNS, seed: 20_261 });
    let finished = 0;
    const check = async ({ fields, isValid, isBeginning }: RandomConstraint, seed: number) => {
      const { choices } = await client.chat({ ...fields, seed, temperature: 1.5, max_tokens: 60 });
      const { finish_reason: reason, message } = choices[0];
      const told = `${JSON.stringify(fields)} with seed ${seed}: ${JSON.stringify(message.content)}`;
      if (reason === 'stop') finished++;
      else expect(reason, told).toBe('length');
      expect(reason === 'stop' ? isValid(message.content) : isBeginning(message.content), told).toBe(true);
    };
    for (let at = 0; at < constraints.length; at += BATCH)
      await Promise.all(constraints.slice(at, at + BATCH).map((each, index) => check(each, at + index)));
    expect(finished).toBeGreaterThan(RUNS / 3);
  });
});

describe('a constrained answer', () => {
  const fields = {
    structured_outputs: { json: { type: 'array', items: { enum: ['red', 'green', 1] }, maxItems: 4 } },
    temperature: 1.5,
    seed: 11,
    max_tokens: 60,
  };

  it('is the same streamed, and the same for the same seed beside other requests', async () => {
    const alone = contentOf(await client.chat(fields));
    const others = Array.from({ length: 5 }, (_, index) => client.chat({ ...fields, seed: index }));
    const chunks = await client.stream(fields);
    await Promise.all(others);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(alone);
  });

  it('is valid in each of n choices, which are those of the following seeds', async () => {
    const body = await client.chat({ ...fields, n: 3 });
    for (const index of [0, 1, 2]) {
      expect(Array.isArray(JSON.parse(contentOf(body, index)))).toBe(true);
      expect(contentOf(body, index)).toBe(contentOf(await client.chat({ ...fields, seed: 11 + index })));
    }
  });

  it('ends at a stop string, and below the minimum when it is complete', async () => {
    const choice = { structured_outputs: { choice: ['left right'] } };
    const cut = await client.chat({ ...choice, stop: [' '] });
    expect([contentOf(cut), cut.choices[0].stop_reason]).toEqual(['left', ' ']);
    const complete = await client.chat({ ...choice, min_tokens: 40, max_tokens: 50, ignore_eos: true });
    expect([contentOf(complete), complete.choices[0].finish_reason]).toEqual(['left right', 'stop']);
  });

  it('has a log probability for each token', async () => {
    const body = await client.chat({ ...fields, logprobs: true, return_token_ids: true });
    const { logprobs, token_ids: ids, message } = body.choices[0];
    expect(logprobs.content).toHaveLength(ids.length);
    expect(body.usage.completion_tokens).toBe(ids.length);
    const texts = logprobs.content.map(({ token }: Json) => token).join('');
    expect(texts.startsWith(message.content)).toBe(true);
  });

  it('comes after the thinking, which is free', async () => {
    const choice = { structured_outputs: { choice: ['Paris'] }, max_tokens: 120, temperature: 0 };
    const body = await client.chat({ ...choice, chat_template_kwargs: { enable_thinking: true } });
    const { message, finish_reason: reason } = body.choices[0];
    expect(message.reasoning.length).toBeGreaterThan(0);
    if (reason === 'stop') expect(message.content).toBe('Paris');
    else expect(message.content).toBeNull();
    const unthinking = await client.chat({ ...choice, chat_template_kwargs: { enable_thinking: false } });
    expect(unthinking.choices[0].message).toMatchObject({ content: 'Paris', reasoning: null });
  });

  it('is refused beside a beam search', async () => {
    await client.refused({ ...fields, use_beam_search: true, n: 2 }, 'structured_outputs');
  });

  it('is given by completions too', async () => {
    const structured_outputs = { choice: ['one', 'two'] };
    const { status, body } = await client.post('/v1/completions', { prompt: 'Count', structured_outputs });
    expect(status).toBe(200);
    expect(['one', 'two']).toContain(body.choices[0].text);
  });

  it('that breaks what only its end shows ends with an error', async () => {
    // Nothing but equal items can be said, and they must differ.
    const json = { type: 'array', items: { enum: ['a'] }, minItems: 2, maxItems: 2, uniqueItems: true };
    const structured_outputs = { json, disable_any_whitespace: true };
    const messages = [{ role: 'user', content: 'x' }];
    const { choices } = await client.chat({ messages, structured_outputs });
    expect(choices[0]).toMatchObject({ finish_reason: 'error', stop_reason: 'constraint_failed' });
  });
});

describe('JSON of an open schema', () => {
  const schema = { type: 'array', items: { type: ['string', 'integer', 'object'] } };
  const fields = { structured_outputs: { json: schema }, temperature: 1.5, seed: 3 };
  const endOf = ({ choices }: Json) => {
    const { finish_reason: reason, constraint_position: position } = choices[0];
    return { reason, position };
  };

  it('says where it stood when its length ended it, streamed as well', async () => {
    for (const max_tokens of [1, 4, 9, 25]) {
      const body = await client.chat({ ...fields, max_tokens });
      const { reason, position } = endOf(body);
      const chunks = await client.stream({ ...fields, max_tokens });
      const last = chunks.findLast(({ choices }) => choices[0]?.finish_reason != null);
      expect(endOf(last!)).toEqual({ reason, position });
      if (reason === 'stop') expect(position).toBeUndefined();
      else
        expect(position).toEqual({
          is_complete: false,
          path: expect.any(String),
          inside: expect.any(String),
        });
    }
    const { body } = await client.post('/v1/completions', { prompt: 'Count', ...fields, max_tokens: 1 });
    expect(body.choices[0].constraint_position).toMatchObject({ is_complete: false });
    const plain = await client.chat({ max_tokens: 1 });
    expect(plain.choices[0]).not.toHaveProperty('constraint_position');
  });

  it('is closed under strict, and open without it', async () => {
    const object = { type: 'object', properties: { a: { type: 'null' } } };
    const ask = (strict: boolean) => {
      const format = { type: 'json_schema', json_schema: { name: 'a', schema: object, strict } };
      return client.chat({ response_format: format, temperature: 1.5, seed: 1, n: 8, max_tokens: 60 });
    };
    const contents = ({ choices }: Json): string[] => choices.map(({ message }: Json) => message.content);
    for (const content of contents(await ask(true)))
      expect(JSON.parse(content)).toEqual(expect.toSatisfy(isClosed));
    expect(contents(await ask(false)).some(content => !/^\{("a": ?null)?\}$/.test(content))).toBe(true);
  });

  function isClosed(value: object): boolean {
    return Object.keys(value).every(name => name === 'a');
  }

  it('has switches for its form', async () => {
    const json = { type: 'array', items: { const: 1 }, minItems: 2, maxItems: 2 };
    const ask = (style: object) =>
      client.chat({
        structured_outputs: { json, ...style },
        temperature: 1.9,
        seed: 1,
        n: 8,
        max_tokens: 20,
      });
    const contents = async (style: object): Promise<string[]> =>
      (await ask(style)).choices.map(({ message }: Json) => message.content);
    for (const content of await contents({})) expect(content).toMatch(/^\s*\[(?:1, ?1|\n( *|\t)1,\n\1)/);
    for (const content of await contents({ disable_any_whitespace: true })) expect(content).toBe('[1,1]');
    for (const content of await contents({ json_whitespace: 'none' })) expect(content).toBe('[1,1]');
    await client.refused(
      { structured_outputs: { json, json_whitespace: 'some' } },
      'structured_outputs.json_whitespace',
    );
  });
});

describe('choices of one request of which some break their constraint', () => {
  // Two items that must differ are drawn from three: some choices say the same twice.
  const json = { type: 'array', items: { enum: [1, 2, 3] }, minItems: 2, maxItems: 2, uniqueItems: true };
  const fields = {
    messages: [{ role: 'user', content: 'x' }],
    structured_outputs: { json, disable_any_whitespace: true },
    temperature: 1.9,
    seed: 5,
    n: 8,
    max_tokens: 20,
  };

  it('end with an error each, and the others and other requests are untouched', async () => {
    const other = { ...fields, messages: USER, structured_outputs: { choice: ['left', 'right'] }, n: 1 };
    const [mixed, beside] = await Promise.all([client.chat(fields), client.chat(other)]);
    expect(contentOf(beside)).toBe(contentOf(await client.chat(other)));
    const good = mixed.choices.filter(({ finish_reason: reason }: Json) => reason === 'stop');
    const failed = mixed.choices.filter(({ finish_reason: reason }: Json) => reason === 'error');
    expect(good.length).toBeGreaterThan(0);
    expect(failed.length).toBeGreaterThan(0);
    expect(good.length + failed.length).toBe(8);
    for (const { stop_reason: reason } of failed) expect(reason).toBe('constraint_failed');
    for (const { message, stop_reason: reason } of good) {
      const [first, second, ...rest] = JSON.parse(message.content);
      expect(first).not.toBe(second);
      expect([rest, reason]).toEqual([[], null]);
    }
    for (const { index, finish_reason: reason, message } of mixed.choices) {
      const alone = await client.chat({ ...fields, n: 1, seed: 5 + index });
      expect(alone.choices[0].finish_reason).toBe(reason);
      expect(contentOf(alone)).toBe(message.content);
      if (reason !== 'stop') expect(alone.choices[0].stop_reason).toBe('constraint_failed');
    }
  });

  it('are the same streamed', async () => {
    const whole = await client.chat(fields);
    const chunks = await client.stream(fields);
    const reasons = new Map<number, Json>();
    for (const { choices } of chunks)
      for (const { index, finish_reason: reason, stop_reason: why } of choices ?? [])
        if (reason !== null) reasons.set(index, [reason, why]);
    expect(reasons.size).toBe(8);
    for (const { index, finish_reason: reason, stop_reason: why } of whole.choices)
      expect(reasons.get(index)).toEqual([reason, why]);
  });
});

describe('a hostile constraint', () => {
  const nest = (depth: number): object => (depth === 0 ? {} : { items: nest(depth - 1) });
  const rules = Array.from({ length: 20_000 }, (_, i) => `r${i} ::= r${i + 1}`).join('\n');
  const HOSTILE: readonly (readonly [what: string, structuredOutputs: object])[] = [
    ['100,000 values', { json: { enum: Array.from({ length: 100_000 }, (_, i) => `v${i}`) } }],
    ['depth 127', { json: nest(127) }],
    ['depth 100', { json: nest(100) }],
    ['an expression past the limit', { regex: 'a?'.repeat(2 ** 14) }],
    ['repetitions inside repetitions', { regex: '(?:a{1,999}){1,999}' }],
    ['such a pattern', { json: { type: 'string', pattern: '^(.{1,999}a){1,999}$' } }],
    ['such a grammar', { grammar: 'root ::= (("a" | "b"){9999} "c"){9999}' }],
    ['such a terminal', { grammar: 'start: /((ab?){1,500}c){1,500}/' }],
    ['20,000 rules', { grammar: `root ::= r0\n${rules}\nr20000 ::= "a"` }],
    ['a reference to itself', { json: { $ref: '#' } }],
    ['a value that must contain itself', { json: { type: 'array', items: { $ref: '#' }, minItems: 1 } }],
    ['counts that multiply', { regex: '(?:[a-z]{1,100}[0-9a-z]){1,100}' }],
    ['a grammar without an end', { grammar: 'root ::= "a" root' }],
    ['a megabyte', { json: { description: 'x'.repeat(2 ** 20) } }],
  ];

  it('is refused in time, while another answer goes on', { timeout: 60_000 }, async () => {
    await client.chat({ structured_outputs: { regex: 'ready' } });
    const long = { max_tokens: 200, ignore_eos: true, temperature: 1, seed: 1 };
    const plain = client.stream(long).catch((error: unknown) => error);
    for (const [what, structured_outputs] of HOSTILE) {
      const from = performance.now();
      const error = await client.refused({ structured_outputs });
      expect(performance.now() - from, what).toBeLessThan(10_000);
      expect(error.message.length, what).toBeLessThan(500);
    }
    // Harmless here: automata are built state by state as the text goes on, and nothing is ever tried twice.
    for (const regex of ['(.*a.{20})c', '.*a.*b.*c', '(?:[^"]|"")*;'])
      await client.chat({ structured_outputs: { regex }, max_tokens: 5 });
    expect(((await plain) as Json[]).length).toBeGreaterThan(10);
    await client.chat({ structured_outputs: { regex: 'still here' } });
  });
});

describe('an ambiguous pattern', () => {
  const inSchema = (schema: object) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
  });
  it('is served, in patterns, schemas and grammars', async () => {
    for (const fields of [
      { structured_outputs: { regex: '(a+)+b' } },
      { structured_outputs: { regex: '((a+)+)+b' } },
      { structured_outputs: { json: { type: 'string', pattern: '^(\\w+\\s?)*$' } } },
      { structured_outputs: { grammar: 'start: /(?:(?:a|aa)+){30}b/' } },
      inSchema({ type: 'object', properties: { name: { type: 'string', pattern: '^([a-z]+ ?)*$' } } }),
      inSchema({ type: 'object', patternProperties: { '^(\\w|_)+$': { type: 'null' } } }),
      { structured_outputs: { grammar: 'start: /(x+x+)+y/' } },
    ])
      expect(await client.chat({ ...fields, max_tokens: 5 })).toBeDefined();
  });
});
