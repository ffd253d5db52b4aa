// Hostile prompts: nothing a request brings may hold this thread or its memory.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenizeBadWords } from '../src/text/bad-words.ts';
import { ChatTemplates } from '../src/text/chat-template.ts';
import { PromptEncoder } from '../src/text/prompt-encoder.ts';
import { readTextFiles } from '../src/text/text-files.ts';
import { longestTokenSpan } from '../src/text/token-bound.ts';
import { Tokenizer } from '../src/text/tokenizer.ts';
import { familyDir, loadFamily, loadFamilyFiles } from './tokenizer-families.ts';

const files = loadFamilyFiles('llama2_style');
const tokenizer = new Tokenizer(files);
const CONTEXT_LENGTH = 100_000;
let prompts: PromptEncoder;
let impatient: PromptEncoder;

const TEMPLATE = '{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}';

function createEncoder(
  limits: { templateTimeLimitMs?: number; encodeTimeLimitMs?: number } = {},
  modelDir = familyDir('llama2_style'),
  template = TEMPLATE,
): PromptEncoder {
  return new PromptEncoder({
    modelDir,
    tokenizer,
    templates: new ChatTemplates({ bos_token: '<s>' }, new Map([['default', template]])),
    longestTokenSpan: longestTokenSpan(files.tokenizer, tokenizer.tokenBytes),
    contextLength: CONTEXT_LENGTH,
    ...limits,
  });
}

beforeAll(() => {
  prompts = createEncoder();
  impatient = createEncoder({ templateTimeLimitMs: 100, encodeTimeLimitMs: 20 });
});
afterAll(() => Promise.all([prompts.close(), impatient.close()]));

const USER = [{ role: 'user', content: 'Hi' }];
const LOOP =
  '{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% for c in r %}{% endfor %}{% endfor %}{% endfor %}';

const TWICE =
  '{% set ns = namespace(l=[], m=[]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}';

describe('templates of requests', () => {
  test('render as the model template would', async () => {
    expect(await prompts.renderChat(USER)).toBe('<s>[user] Hi\n');
    expect(
      await prompts.renderChat(USER, { template: '{{ messages[0].content }}!{{ x }}', variables: { x: 1 } }),
    ).toBe('Hi!1');
  });

  test('that loop are ended at the time limit while this thread stays free, and the next one is served', async () => {
    let turnCount = 0;
    const timer = setInterval(() => turnCount++, 5);
    await expect(impatient.renderChat(USER, { template: LOOP })).rejects.toMatchObject({
      code: 'template_failed',
      message: expect.stringContaining('100 ms'),
    });
    clearInterval(timer);
    expect(turnCount).toBeGreaterThan(3);
    expect(await impatient.renderChat(USER, { template: 'ok' })).toBe('ok');
  });

  test('that hang keep no long conversation of others waiting', async () => {
    const encoder = createEncoder({ templateTimeLimitMs: 20_000 });
    const ended: string[] = [];
    const hanging = [1, 2].map(() =>
      encoder.renderChat(USER, { template: LOOP }).catch(() => ended.push('hanging')),
    );
    const long = [{ role: 'user', content: 'Hi. '.repeat(1_000) }];
    const waiting = encoder.renderChat(long).then(() => ended.push('long'));
    // They would hang for much longer; closing the encoder ends them.
    await Promise.race([waiting, ...hanging]);
    await encoder.close();
    await Promise.all([...hanging, waiting]);
    expect(ended).toEqual(['long', 'hanging', 'hanging']);
  });

  test('that grow without end are refused', { timeout: 30_000 }, async () => {
    const grow =
      "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}";
    await expect(prompts.renderChat(USER, { template: grow })).rejects.toMatchObject({
      code: 'template_failed',
    });
    const dag =
      "{% set ns = namespace(l='x') %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}";
    const printed = [`${dag}{{ ns.l }}`, `${dag}{{ ns.l | tojson }}`, `${dag}{{ ns.l | string | length }}`];
    const long = "{% set a = 'ab' * 30000000 %}";
    const grown = [
      `${long}{{ a.replace('a', a) }}`,
      `${long}{{ [a, a] | join(a) }}`,
      `${long}{{ a.split('a') }}`,
      `${long}{{ a | list }}`,
    ];
    const cheap = [
      '{{ [[]] * 99999999 }}',
      '{{ [1] | batch(99999999, 0) }}',
      "{{ 'x' | indent(99999999, true) }}",
      "{{ '%.99999f' % 1 }}",
    ];
    for (const template of [...printed, ...grown, ...cheap]) {
      await expect(prompts.renderChat(USER, { template })).rejects.toMatchObject({ code: 'template_failed' });
    }
    const list =
      '{% set ns = namespace(l=[0]) %}{% for i in range(40) %}{% set ns.l = ns.l + ns.l %}{% endfor %}';
    await expect(prompts.renderChat(USER, { template: list })).rejects.toMatchObject({
      code: 'template_failed',
    });
    expect(await prompts.renderChat(USER, { template: 'ok' })).toBe('ok');
  });

  test('reach nothing of the host', async () => {
    const probes = ['constructor', '__proto__', 'prototype', '__class__', 'toString', 'valueOf'];
    for (const probe of probes) {
      const template = `[{{ messages.${probe} }}{{ 'a'.${probe} }}{{ messages[0]['${probe}'] }}{{ ${probe} }}]`;
      expect(await prompts.renderChat(USER, { template })).toBe('[]');
    }
    await expect(
      prompts.renderChat(USER, { template: "{{ ''.constructor.constructor('return 1')() }}" }),
    ).rejects.toMatchObject({
      code: 'template_failed',
    });
  });

  test('cannot be given values that are not plain data', async () => {
    const variables = { x: () => 1 };
    await expect(prompts.renderChat(USER, { template: 'x', variables })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await prompts.renderChat(USER, { template: 'ok' })).toBe('ok');
  });

  test('report the message of raise_exception', async () => {
    const template = "{{ raise_exception('Only one system message.') }}";
    await expect(prompts.renderChat(USER, { template })).rejects.toMatchObject({
      code: 'template_failed',
      message: expect.stringContaining('Only one system message.'),
    });
  });
});

describe("a model's own template", () => {
  test.each([
    ['loops', LOOP],
    ['compares lists that hold each other', `${TWICE}{% if ns.l == ns.m %}{% endif %}`],
    ['takes much memory', "{% set a = 'ab' * 60000000 %}{{ a | upper }}{{ a | upper }}"],
  ])('that %s ends at its limits while this thread stays free', async (_, template) => {
    const encoder = createEncoder({ templateTimeLimitMs: 100 }, undefined, template);
    await encoder.renderChat(USER).catch(() => undefined);
    const startedAtMs = performance.now();
    const refused = encoder.renderChat(USER);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    await expect(refused).rejects.toMatchObject({ code: 'template_failed' });
    await encoder.close();
  });

  test('that takes longer than this thread has for it is rendered all the same', async () => {
    const template = `{% for i in range(400) %}{% for j in range(400) %}{{ i * j }}{% endfor %}{% endfor %}`;
    const encoder = createEncoder({ templateTimeLimitMs: 30_000 }, undefined, template);
    const texts = [await encoder.renderChat(USER), await encoder.renderChat(USER, { template })];
    await encoder.close();
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toMatch(/^0+123/);
  });
});

describe('a tokenizer whose patterns may match for ever', () => {
  let folder: string;
  let encoder: PromptEncoder;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-tokenizer-'));
    await cp(familyDir('digits'), folder, { recursive: true });
    const path = join(folder, 'tokenizer.json');
    const json = JSON.parse(await readFile(path, 'utf8'));
    const split = { type: 'Split', pattern: { Regex: '(a|a)*b' }, behavior: 'Isolated', invert: false };
    json.pre_tokenizer = { type: 'Sequence', pretokenizers: [split, json.pre_tokenizer] };
    await writeFile(path, JSON.stringify(json));
    const hostile = await readTextFiles(folder);
    encoder = new PromptEncoder({
      modelDir: folder,
      tokenizer: hostile.tokenizer,
      templates: new ChatTemplates({}, hostile.templates),
      longestTokenSpan: hostile.tokenSpan,
      contextLength: CONTEXT_LENGTH,
      encodeTimeLimitMs: 200,
    });
  });
  afterAll(async () => {
    await encoder.close();
    await rm(folder, { recursive: true });
  });

  test('holds up its own texts only', async () => {
    expect((await encoder.encode('Hello', false)).length).toBeGreaterThan(0);
    let turnCount = 0;
    const timer = setInterval(() => turnCount++, 5);
    await expect(encoder.encode('a'.repeat(60), false)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(tokenizeBadWords(encoder, ['a'.repeat(60)])).rejects.toMatchObject({
      code: 'invalid_request',
    });
    clearInterval(timer);
    expect(turnCount).toBeGreaterThan(3);
  });
});

test('the tokenizer adds its special tokens only where asked to, and never a second time', async () => {
  const plain = await prompts.encodePrompt({ messages: USER });
  const bare = '{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}';
  const encode = async (template: object) => [...(await prompts.encodePrompt({ messages: USER, template }))];
  const begin = tokenizer.tokenId('<s>')!;
  expect([plain[0], plain[1] === begin]).toEqual([begin, false]);
  expect(await encode({ addSpecialTokens: true })).toEqual([...plain]);
  const without = await encode({ template: bare });
  expect(without).not.toContain(begin);
  expect(await encode({ template: bare, addSpecialTokens: true })).toEqual([begin, ...without]);
});

/** No place to split: the whole is merged at once, which takes seconds. */
const LETTERS = Array.from({ length: 400_000 }, (_, i) => String.fromCharCode(97 + ((i * 7919) % 26))).join(
  '',
);

describe('long texts', () => {
  test.each([300, 2_000])('become the same ids in a worker as here: %i sentences', async count => {
    const encoder = createEncoder({}, familyDir('digits'));
    const text = 'Hello world, the quick brown fox. '.repeat(count);
    const ids = await encoder.encode(text, true);
    await encoder.close();
    expect(Array.from(ids)).toEqual(loadFamily('digits').encode(text, { addSpecialTokens: true }));
  });

  test('that take very long keep no shorter ones of others waiting', async () => {
    const encoder = createEncoder();
    const sentences = 'Hello world. '.repeat(300);
    let isOver = false;
    const noted = encoder.encode(LETTERS.repeat(9), false).finally(() => {
      isOver = true;
    });
    const closed = expect(noted).rejects.toMatchObject({ code: 'engine_closed' });
    await encoder.encode(sentences, false);
    expect(isOver).toBe(false);
    await encoder.close();
    await closed;
  });

  test('that take too long are refused while this thread stays free', async () => {
    let turnCount = 0;
    const timer = setInterval(() => turnCount++, 2);
    await expect(impatient.encode(LETTERS, false)).rejects.toMatchObject({
      code: 'invalid_request',
      parameter: 'prompt',
    });
    clearInterval(timer);
    expect(turnCount).toBeGreaterThan(3);
  });

  test('that cannot fit the context are refused without being encoded', async () => {
    const text = 'a'.repeat(50_000_000);
    await expect(prompts.encodePrompt({ text })).rejects.toMatchObject({
      code: 'prompt_too_long',
    });
  });

  test('of aborted callers are dropped from the queue', async () => {
    const controller = new AbortController();
    const text = 'Hello world. '.repeat(3000);
    const first = prompts.encode(text, false);
    const second = expect(prompts.encode(text, false, controller.signal)).rejects.toMatchObject({
      code: 'aborted',
    });
    controller.abort();
    await second;
    expect((await first).length).toBeGreaterThan(3000);
  });
});

test('a worker that cannot start says so, and so it does the next time', async () => {
  const broken = createEncoder({}, '/nowhere');
  for (let i = 0; i < 2; i++) {
    await expect(broken.encode('a'.repeat(5000), false)).rejects.toMatchObject({ code: 'engine_failed' });
  }
  await broken.close();
});

describe('conversations', () => {
  const prepare = (
    template: string,
    message: { role: string; content: string | { type: 'text'; text: string }[] },
  ) => new ChatTemplates({}, new Map([['default', template]])).prepare([message]).variables.messages;
  const parts = [
    { type: 'text' as const, text: 'a' },
    { type: 'text' as const, text: 'b' },
  ];

  test('have parts as lines of text, or as a list where the template walks over them', () => {
    expect(prepare('{{ messages }}', { role: 'user', content: parts })).toEqual([
      { role: 'user', content: 'a\nb' },
    ]);
    const walker = '{% for part in message.content %}{% endfor %}';
    expect(prepare(walker, { role: 'user', content: parts })).toEqual([{ role: 'user', content: parts }]);
    expect(prepare(walker, { role: 'user', content: 'x' })).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
    ]);
    expect(prepare(walker, { role: 'tool', content: parts })).toEqual([{ role: 'tool', content: 'a\nb' }]);
  });

  test.each(['message.content is string', "message['content'] is not string", 'content is string'])(
    'have text as text where the template asks for it: %s',
    question => {
      const walker = `{% if ${question} %}{% endif %}{% for part in message.content %}{% endfor %}`;
      expect(prepare(walker, { role: 'user', content: 'x' })).toEqual([{ role: 'user', content: 'x' }]);
      expect(prepare(walker, { role: 'user', content: parts })).toEqual([{ role: 'user', content: parts }]);
    },
  );

  test('call the developer a system where the template knows no developer', () => {
    expect(prepare('{{ messages }}', { role: 'developer', content: 'x' })).toMatchObject([
      { role: 'system' },
    ]);
    expect(prepare("{{ 'developer' }}", { role: 'developer', content: 'x' })).toMatchObject([
      { role: 'developer' },
    ]);
  });

  test('are prepared with one look at the template, however many messages there are', () => {
    const templates = new ChatTemplates({}, new Map());
    const messages = Array.from({ length: 4_096 }, () => ({ role: 'developer', content: '' }));
    const template = '{% for a in '.repeat(20_000);
    const startedAtMs = performance.now();
    templates.prepare(messages, { template });
    // A look takes milliseconds: one for each message would take the thread of all requests for half a minute.
    expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  });

  test('refuse a template of unusual length before they look at it', () => {
    const templates = new ChatTemplates({}, new Map());
    expect(() => templates.prepare(USER, { template: ' '.repeat(262_145) })).toThrow(
      expect.objectContaining({ code: 'template_failed', message: expect.stringContaining('262144') }),
    );
  });

  test('take the template for tools when there are tools and the model has one', () => {
    const named = new Map([
      ['default', 'plain'],
      ['tool_use', 'tools'],
    ]);
    const templates = new ChatTemplates({}, named);
    expect(templates.prepare([], {}).source).toBe('plain');
    expect(templates.prepare([], { tools: [{}] }).source).toBe('tools');
    expect(templates.prepare([], { tools: [{}], template: 'own' }).source).toBe('own');
    expect(() => new ChatTemplates({}, new Map()).prepare([])).toThrow(
      expect.objectContaining({ code: 'template_failed' }),
    );
  });

  test('cannot be overridden by extra variables', () => {
    const templates = new ChatTemplates({}, new Map([['default', 'x']]));
    const { variables } = templates.prepare(USER, {
      variables: { messages: 1, add_generation_prompt: false, tools: 2, documents: [1] },
    });
    expect(variables).toMatchObject({
      messages: USER,
      add_generation_prompt: true,
      tools: null,
      documents: [1],
    });
  });
});
