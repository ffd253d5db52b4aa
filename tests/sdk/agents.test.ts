// Programs of agent frameworks as their manuals show them, on a model that is scripted to call: a function is called, its
// result goes back, and a text follows. Vercel's AI SDK, LangChain and OpenAI's Agents SDK, each on the endpoints it knows.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { createAgent, tool as langchainTool } from 'langchain';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AGENT_MODEL, startScriptedAgentServer } from '../support/scripted-agent-server.ts';
import type { ScriptedServer } from '../support/scripted-server.ts';
import { REPOSITORY } from '../support/server.ts';

const QUESTION = 'How is the weather in Rome?';
const ANSWER = 'It is sunny in Rome.';
const DESCRIPTION = 'The weather of a city.';
const parameters = z.object({ city: z.string() });

let server: ScriptedServer;
/** Cities that the tool was asked for. */
let asked: string[] = [];
const getWeather = async ({ city }: { readonly city: string }) => {
  asked.push(city);
  return 'sunny';
};

beforeAll(async () => {
  server = await startScriptedAgentServer();
});
afterAll(() => server?.close());
beforeEach(() => {
  asked = [];
});

describe('AI SDK', () => {
  const openai = () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const compatible = () =>
    createOpenAICompatible({
      name: 'ortler',
      baseURL: `${server.url}/v1`,
      apiKey: server.apiKey,
      supportsStructuredOutputs: true,
    });
  const models = {
    'openai(model), on responses': () => openai()(AGENT_MODEL),
    'openai.chat(model)': () => openai().chat(AGENT_MODEL),
    'openai-compatible': () => compatible()(AGENT_MODEL),
  };
  const tools = {
    get_weather: tool({ description: DESCRIPTION, inputSchema: parameters, execute: getWeather }),
  };

  test.each(Object.entries(models))('%s: calls a tool and answers with its result', async (_name, model) => {
    const request = { model: model(), tools, stopWhen: stepCountIs(3), prompt: QUESTION };
    const { text, steps } = await generateText(request);
    expect(text).toBe(ANSWER);
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    const stream = streamText(request);
    expect(await stream.text).toBe(ANSWER);
    expect(asked).toEqual(['Rome', 'Rome']);
  });

  test.each(Object.entries(models))('%s: gives an object of a schema', async (_name, model) => {
    const { object } = await generateObject({ model: model(), schema: parameters, prompt: QUESTION });
    expect(object).toEqual({ city: 'Rome' });
  });

  test('openai(model): goes on with a conversation whose answers it names by their ids', async () => {
    const model = openai()(AGENT_MODEL);
    const first = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: QUESTION });
    const messages = [
      { role: 'user' as const, content: QUESTION },
      ...first.response.messages,
      { role: 'user' as const, content: 'And now?' },
    ];
    const { text } = await generateText({ model, tools, stopWhen: stepCountIs(3), messages });
    expect(text).toBe(ANSWER);
  });

  test('forces one tool, or none', async () => {
    const request = { model: openai()(AGENT_MODEL), prompt: QUESTION, tools };
    const forced = await generateText({ ...request, toolChoice: { type: 'tool', toolName: 'get_weather' } });
    expect(forced.toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Rome' } }]);
    const none = await generateText({ ...request, toolChoice: 'none' });
    expect(none.toolCalls).toEqual([]);
  });
});

describe('LangChain', () => {
  const weather = langchainTool(getWeather, {
    name: 'get_weather',
    description: DESCRIPTION,
    schema: parameters,
  });
  const chat = (useResponsesApi: boolean) =>
    new ChatOpenAI({
      model: AGENT_MODEL,
      apiKey: server.apiKey,
      configuration: { baseURL: `${server.url}/v1` },
      useResponsesApi,
      maxRetries: 0,
    });

  test.each([
    ['chat completions', false],
    ['responses', true],
  ])('on %s: an agent calls a tool and answers with its result', async (_name, useResponsesApi) => {
    const agent = createAgent({ model: chat(useResponsesApi), tools: [weather] });
    const { messages } = await agent.invoke({ messages: [new HumanMessage(QUESTION)] });
    expect(messages.at(-1)?.text).toBe(ANSWER);
    expect(asked).toEqual(['Rome']);
  });

  test('takes structured output by a function', async () => {
    const model = chat(false).withStructuredOutput(parameters, { method: 'functionCalling' });
    expect(await model.invoke(QUESTION)).toEqual({ city: 'Rome' });
  });
});

describe('OpenAI Agents SDK', () => {
  // In a process of its own: one of its packages has sources that Node must not load from there.
  test('an agent calls a tool and answers with its result, on both endpoints, whole and streamed', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(REPOSITORY, 'tests/clients/openai-agents.ts'), AGENT_MODEL],
      { env: { ...process.env, OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: server.apiKey } },
    );
    expect(JSON.parse(stdout)).toEqual({
      answers: { responses: [ANSWER, ANSWER], chat_completions: [ANSWER, ANSWER] },
      asked: ['Rome', 'Rome', 'Rome', 'Rome'],
    });
  });
});

describe('openai', () => {
  test('runs tools by itself', async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
    const runner = client.chat.completions.runTools({
      model: AGENT_MODEL,
      messages: [{ role: 'user', content: QUESTION }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: DESCRIPTION,
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            parse: (text: string) => parameters.parse(JSON.parse(text)),
            function: getWeather,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe(ANSWER);
    expect(asked).toEqual(['Rome']);
  });
});
