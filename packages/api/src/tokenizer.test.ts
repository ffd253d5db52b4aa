// The procedures of /tokenize and /detokenize, and of single models, over fake engines.

import { EngineError, type Prompt, type ToolsRequest } from '@ortler/engine';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from './app-router.ts';
import { createFakeEngine, createFakeServices, TEST_API_KEY } from './testing/index.ts';

function callerOf(services = createFakeServices()) {
  return createAppRouter(services).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'r',
    headers: {},
    signal: new AbortController().signal,
  });
}

const messages = [{ role: 'user', content: 'hi' }];
const TOOLS = [
  { function: { name: 'weather', strict: true } },
  { function: { name: 'now', description: 'x' } },
];

describe('tokenizer.encode', () => {
  it('gives the tokens of a text with special tokens, unless it is told not to', async () => {
    const asked: unknown[] = [];
    const engine = createFakeEngine();
    const recording = {
      ...engine,
      encodePrompt: (prompt: Prompt) => {
        asked.push(
          typeof prompt === 'object' && (prompt.text !== undefined ? prompt.addSpecialTokens : prompt),
        );
        return engine.encodePrompt(prompt);
      },
    };
    const { tokenizer } = callerOf(createFakeServices({ demo: recording }));
    expect(await tokenizer.encode({ prompt: 'ab', return_token_strs: true })).toEqual({
      count: 2,
      max_model_len: 256,
      tokens: [97, 98],
      token_strs: ['Ġa', 'Ġb'],
    });
    expect(await tokenizer.encode({ prompt: 'ab', add_special_tokens: false })).toMatchObject({
      token_strs: null,
    });
    await tokenizer.encode({ messages });
    await tokenizer.encode({ messages, add_special_tokens: true });
    expect(asked).toMatchObject([true, false, { messages }, { template: { addSpecialTokens: true } }]);
    expect(asked[2]).not.toHaveProperty('template.addSpecialTokens');
  });

  it('gives the tokens of a conversation as the chat template writes it', async () => {
    const engine = createFakeEngine();
    const rendered: unknown[] = [];
    const recording = {
      ...engine,
      encodePrompt: (prompt: Prompt) => {
        rendered.push(prompt);
        return Promise.resolve([1, 2, 3, 4]);
      },
    };
    const { tokenizer } = callerOf(createFakeServices({ demo: recording }));
    const fields = { add_generation_prompt: false, chat_template: 'T', chat_template_kwargs: { a: 1 } };
    expect(await tokenizer.encode({ messages, ...fields })).toMatchObject({ count: 4 });
    expect(rendered).toMatchObject([
      { messages, template: { addGenerationPrompt: false, template: 'T', variables: { a: 1 } } },
    ]);
  });

  it.each([
    [{ tools: TOOLS }],
    [{ tools: TOOLS, tool_choice: 'none' as const }],
    [{ tools: TOOLS, tool_choice: 'required' as const, add_generation_prompt: false }],
    [{ chat_template: 'T', chat_template_kwargs: { a: 1 }, add_special_tokens: true }],
  ])(
    'asks for the prompt that a chat with the same fields has, with and without tool calling: %j',
    async fields => {
      for (const toolCalling of [true, false]) {
        const asked: unknown[] = [];
        const engine = createFakeEngine();
        const recording = {
          ...engine,
          encodePrompt: (prompt: Prompt, options?: { readonly tools?: ToolsRequest }) => {
            asked.push({ prompt, ...(options?.tools && { tools: options.tools }) });
            return engine.encodePrompt(prompt);
          },
        };
        const { tokenizer, chat } = callerOf({ ...createFakeServices({ demo: recording }), toolCalling });
        await tokenizer.encode({ messages, ...fields });
        const { tool_choice: choice, ...others } = fields as { tool_choice?: 'none' | 'required' };
        await chat.complete({ messages, ...others, ...(toolCalling && choice && { tool_choice: choice }) });
        const { prompt, tools } = engine.requests[0]!;
        expect(asked).toEqual([{ prompt, ...(tools && { tools }) }]);
        expect(tools !== undefined).toBe(toolCalling && 'tools' in fields && choice !== 'none');
      }
    },
  );

  it.each([
    ['prompt', { prompt: 'x' }, new EngineError('invalid_request', 'x', { parameter: 'prompt' })],
    ['messages', { messages }, new EngineError('invalid_request', 'x', { parameter: 'prompt' })],
    ['chat_template', { messages, chat_template: 'T' }, new EngineError('template_failed', 'x')],
  ])('blames %s', async (param, request, error) => {
    const refuse = () => Promise.reject(error);
    const engine = { ...createFakeEngine(), encodePrompt: refuse };
    const { tokenizer } = callerOf(createFakeServices({ demo: engine }));
    await expect(tokenizer.encode(request)).rejects.toMatchObject({ reason: 'invalid_parameter', param });
  });
});

describe('tokenizer.decode', () => {
  it('gives the text of tokens', async () => {
    expect(await callerOf().tokenizer.decode({ tokens: [104, 105] })).toEqual({ prompt: 'hi' });
    expect(await callerOf().tokenizer.decode({ tokens: [] })).toEqual({ prompt: '' });
  });

  it.each([512, -1])('refuses %i, which the vocabulary does not have', async id => {
    await expect(callerOf().tokenizer.decode({ tokens: [1, id] })).rejects.toMatchObject({
      reason: 'invalid_parameter',
      param: 'tokens',
      message: expect.stringContaining('tokens[1]'),
    });
  });
});

describe('models.retrieve', () => {
  const services = createFakeServices({ 'org/name': createFakeEngine(), b: { kind: 'loading', detail: '' } });

  it('describes a model as the list does, ready or not', async () => {
    const { models } = callerOf(services);
    const { data } = await models.list();
    for (const record of data) expect(await models.retrieve({ model_id: record.id })).toEqual(record);
  });

  it('knows no other model', async () => {
    await expect(callerOf(services).models.retrieve({ model_id: 'org' })).rejects.toMatchObject({
      reason: 'model_not_found',
      param: 'model',
    });
  });
});

describe('models.load and models.unload', () => {
  const calls: string[] = [];
  const checkpoint = {
    id: 'clerk',
    servedId: 'clerk:step2',
    createdAtSeconds: 0,
    ownedBy: 'ortler',
    root: 'clerk:step2',
    open: async () => {
      calls.push('open');
      return { engine: createFakeEngine(), release: () => void calls.push('release') };
    },
    unload: () => void calls.push('unload'),
  };
  const models = { demo: createFakeEngine(), late: { kind: 'loading', detail: 'building, 3%' } } as const;
  const caller = callerOf(createFakeServices(models, [checkpoint]));

  it('take the checkpoint of a name into memory and out of it', async () => {
    const answer = { id: 'clerk:step2', object: 'model.load' };
    expect(await caller.models.load({ model: 'clerk' })).toEqual({ ...answer, state: 'ready' });
    expect(await caller.models.unload({ model: 'clerk' })).toEqual({ ...answer, state: 'unloading' });
    expect(calls).toEqual(['open', 'release', 'unload']);
  });

  it('leave models of the configuration as they are', async () => {
    expect(await caller.models.load({ model: 'demo' })).toMatchObject({ id: 'demo', state: 'ready' });
    await expect(caller.models.load({ model: 'late' })).rejects.toMatchObject({
      reason: 'model_unavailable',
    });
    await expect(caller.models.unload({ model: 'demo' })).rejects.toMatchObject({
      reason: 'invalid_parameter',
      param: 'model',
      message: expect.stringContaining('stays loaded'),
    });
  });

  it('know no other model', async () => {
    for (const action of ['load', 'unload'] as const)
      await expect(caller.models[action]({ model: 'other' })).rejects.toMatchObject({
        reason: 'model_not_found',
      });
  });
});
