// Tools on a scripted model that repeats its prompt: what the model wants to write, and what the grammar makes of it.

import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { GenerationEvent } from '../src/request/generation-event.ts';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import type { ToolDefinition } from '../src/request/tools.ts';
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts';

const TEMPLATE =
  "{# tools <tool_call> #}{% for message in messages %}{{ message.content }}{% endfor %}{{ '<|im_start|>' }}";
const FIND: ToolDefinition = {
  name: 'find',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['city'],
  },
};
const PING: ToolDefinition = { name: 'ping' };
const call = (name: string, json: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`;

let scripted: ScriptedEngine;
beforeAll(async () => {
  scripted = await createScriptedEngine({ chatTemplate: TEMPLATE, core: { contextLength: 1024 } });
});
afterAll(() => scripted.close());

/** Choices of one request: their text, reasoning, calls and end. */
async function answer(script: string, request: Partial<GenerationRequest> = {}, engine = scripted.engine) {
  const choices: {
    text: string;
    reasoning: string;
    calls: { id: string; name: string; arguments: string }[];
    logprobCount: number;
    tokenCount: number;
    finish: unknown;
  }[] = [];
  for await (const event of engine.generate({
    prompt: { messages: [{ role: 'user', content: script }] },
    sampling: { temperature: 0 },
    tools: { definitions: [FIND, PING] },
    ...request,
  })) {
    if (event.kind !== 'token-delta') continue;
    add(event);
  }
  return choices;

  function add(event: Extract<GenerationEvent, { readonly kind: 'token-delta' }>): void {
    choices[event.choiceIndex] ??= {
      text: '',
      reasoning: '',
      calls: [],
      logprobCount: 0,
      tokenCount: 0,
      finish: null,
    };
    const choice = choices[event.choiceIndex]!;
    choice.text += event.text;
    choice.reasoning += event.reasoning;
    choice.logprobCount += event.logprobs?.length ?? 0;
    choice.tokenCount += event.tokenIds.length;
    choice.finish = event.finish;
    for (const { index, start, arguments: json } of event.toolCalls ?? []) {
      if (start !== undefined) choice.calls[index] = { ...start, arguments: '' };
      choice.calls[index]!.arguments += json;
    }
  }
}

const CALLED = { reason: 'tool-calls', stopReason: null };
const STOPPED = { reason: 'stop', stopReason: null };
const withoutIds = (calls: readonly { name: string; arguments: string }[]) =>
  calls.map(({ name, arguments: json }) => [name, json]);

describe('tools of a request', () => {
  it('leave text without a call as it is', async () => {
    expect(await answer('It is 12 < 13.')).toMatchObject([
      { text: 'It is 12 < 13.', calls: [], finish: STOPPED },
    ]);
  });

  it('give calls beside text, in the order and with the characters of the model', async () => {
    const [choice] = await answer(
      `Wait.\n\n${call('find', '{"city": "é \\"q\\"", "count": 2}')}\n${call('ping', '{}')}`,
    );
    expect(choice).toMatchObject({ text: 'Wait.', finish: CALLED });
    expect(withoutIds(choice!.calls)).toEqual([
      ['find', '{"city": "é \\"q\\"", "count": 2}'],
      ['ping', '{}'],
    ]);
    const ids = choice!.calls.map(({ id }) => id);
    expect(ids[0]).toMatch(/^call_[A-Za-z0-9]{24}$/);
    expect(new Set(ids).size).toBe(2);
  });

  it('are called with arguments of their schemas, whatever the model would write', async () => {
    const [choice] = await answer(call('find', '{"town": "Rome", "count": 77}'), { stop: { maxTokens: 80 } });
    expect(choice!.calls[0]!.name).toBe('find');
    expect(choice!.calls[0]!.arguments).toMatch(/^\{"city"/);
  });

  it('have the form that the request asks for', async () => {
    const definitions = [
      { name: 'add', parameters: { properties: { n: { type: 'integer' } }, required: ['n'] } },
    ];
    const digits = '1'.repeat(25);
    const argumentsOf = async (style?: { readonly limitNumbers: boolean }) => {
      const [choice] = await answer(call('add', `{"n": ${digits}}`), {
        tools: { definitions, ...(style && { style }) },
        stop: { maxTokens: 100 },
      });
      return choice!.calls[0]!.arguments;
    };
    expect(await argumentsOf()).toBe(`{"n": ${digits.slice(0, 19)}}`);
    expect(await argumentsOf({ limitNumbers: false })).toBe(`{"n": ${digits}}`);
  });

  it('come once where they may not be parallel, and not at all before their trigger', async () => {
    const definitions = [FIND, PING];
    const two = `${call('ping', '{}')}\n${call('ping', '{}')}`;
    const [one] = await answer(two, { tools: { definitions, parallel: false } });
    expect(one).toMatchObject({ text: '', finish: CALLED });
    expect(withoutIds(one!.calls)).toEqual([['ping', '{}']]);
  });

  it('are forced', async () => {
    const definitions = [FIND, PING];
    const [named] = await answer('no', { tools: { definitions, choice: { name: 'ping' } } });
    expect(named).toMatchObject({ text: '', finish: CALLED, calls: [{ name: 'ping', arguments: '{}' }] });
    const [required] = await answer('no', {
      tools: { definitions: [PING], choice: 'required', parallel: false },
    });
    expect(required).toMatchObject({ text: '', calls: [{ name: 'ping', arguments: '{}' }], finish: CALLED });
  });

  it('are called in each choice, with the log probabilities of all tokens', async () => {
    const choices = await answer(call('ping', '{}'), {
      choiceCount: 2,
      sampling: { temperature: 0.01 },
      logprobs: { topCount: 0 },
    });
    expect(choices).toHaveLength(2);
    for (const { calls, finish, logprobCount, tokenCount } of choices) {
      expect({ calls: withoutIds(calls), finish }).toEqual({ calls: [['ping', '{}']], finish: CALLED });
      expect(logprobCount).toBe(tokenCount);
    }
  });

  it('are cut by stop strings and by the limit of tokens, which stay the reason', async () => {
    const script = call('find', '{"city": "Rome"}');
    const [stopped] = await answer(script, { stop: { strings: ['om'] } });
    expect(stopped).toMatchObject({ finish: { reason: 'stop', stopReason: 'om' } });
    expect(stopped!.calls[0]!.arguments).toBe('{"city": "R');
    const [cut] = await answer(script, { stop: { maxTokens: 20 } });
    expect(cut!.finish).toEqual({ reason: 'length', stopReason: null });
  });

  it('leave the constraint to answers that are text', async () => {
    const constraint = { choice: ['yes', 'no'] };
    expect(await answer('yes', { constraint })).toMatchObject([{ text: 'yes', finish: STOPPED }]);
    expect(await answer(call('ping', '{}'), { constraint })).toMatchObject([{ text: '', finish: CALLED }]);
  });

  test.each<[string, Partial<GenerationRequest>, string]>([
    [
      'a schema that cannot be compiled',
      { tools: { definitions: [PING, { ...FIND, parameters: { properties: { a: { type: 'text' } } } }] } },
      'tools.definitions[1].parameters',
    ],
    [
      'a keyword of a strict tool that no grammar enforces',
      {
        tools: {
          definitions: [
            {
              ...FIND,
              strict: true,
              parameters: { properties: { a: { type: 'array', uniqueItems: true } } },
            },
          ],
        },
      },
      'tools.definitions[0].parameters',
    ],
    ['a structural tag', { constraint: { structuralTag: {} } }, 'constraint'],
    ['a wrong schema of the answer', { constraint: { jsonSchema: { type: 'text' } } }, 'constraint'],
  ])('refuse %s before the first token', async (_, request, parameter) => {
    await expect(answer('a', request)).rejects.toMatchObject({ code: 'invalid_request', parameter });
  });
});

test('a template that knows no tools gets them in the messages', async () => {
  const own = await createScriptedEngine({
    core: { contextLength: 1024 },
    chatTemplate:
      "{% for message in messages %}{% if loop.last %}{{ message.content.split('\\n')[-1] }}{% endif %}{% endfor %}{{ '<|im_start|>' }}",
  });
  try {
    const [choice] = await answer('Hello', {}, own.engine);
    expect(choice).toMatchObject({ text: 'Hello', calls: [], finish: STOPPED });
    const definitions = [PING];
    const [forced] = await answer(
      'Hello',
      { tools: { definitions, choice: 'required', parallel: false } },
      own.engine,
    );
    expect(forced).toMatchObject({ calls: [{ name: 'ping' }], finish: CALLED });
  } finally {
    await own.close();
  }
});
