// Tool calls of a real model that was never trained for tools: under `required` every answer ends by itself, in calls of known
// functions with arguments of their schemas.

import type { Engine, GenerationEvent, ToolDefinition } from '@ortler/engine';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithModel, SMOLLM2, startEngine } from './real-model-engine.ts';

const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'get_weather',
    description: 'Current weather of a city',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 1 },
      },
      required: ['city'],
    },
  },
  {
    name: 'send_email',
    description: 'Send an email',
    parameters: {
      type: 'object',
      properties: {
        to: { type: 'array', items: { type: 'string' } },
        subject: { type: 'string' },
        body: { type: 'string' },
        importance: { type: 'number' },
      },
      required: ['to', 'subject', 'body'],
    },
  },
];
const QUESTIONS = [
  'What is the weather in Paris?',
  'Weather in Rome and in Berlin for 3 days?',
  'Send an email to ann@x.org with the subject Lunch and ask her for lunch on Friday.',
  'Tell me a joke.',
  'Email bob@y.com and eve@z.com that the build is broken.',
  'How hot is it in Cairo in fahrenheit?',
  'Plan a meeting tomorrow at 9.',
  'What is 2 + 2?',
  'Write to support@x.org that I want my money back.',
  'Which city is colder, Oslo or Lima?',
];
const MAX_TOKENS = 512;

const ajv = new Ajv2020();
const validators = new Map(TOOLS.map(({ name, parameters }) => [name, ajv.compile(parameters!)]));

describeWithModel(SMOLLM2, 'tool calls under required', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine(SMOLLM2, 'file');
  }, 300_000);
  afterAll(() => engine?.close());

  it.each(QUESTIONS)('end, are read and fit their schemas: %s', { timeout: 120_000 }, async content => {
    const { calls, text, finish } = await call(content);
    expect(finish).toEqual({ reason: 'tool-calls', stopReason: null });
    expect(text).toBe('');
    expect(calls.length).toBeGreaterThan(0);
    for (const { name, json } of calls) {
      const validate = validators.get(name)!;
      expect(validate(JSON.parse(json)), `${name} ${json}`).toBe(true);
    }
  });

  async function call(content: string) {
    const calls: { name: string; json: string }[] = [];
    let text = '';
    let finish: Extract<GenerationEvent, { kind: 'token-delta' }>['finish'] = null;
    for await (const event of engine.generate({
      prompt: { messages: [{ role: 'user', content }] },
      sampling: { temperature: 0 },
      stop: { maxTokens: MAX_TOKENS },
      tools: { definitions: TOOLS, choice: 'required' },
    })) {
      if (event.kind !== 'token-delta') continue;
      text += event.text;
      finish = event.finish;
      for (const { index, start, arguments: json } of event.toolCalls ?? []) {
        if (start !== undefined) calls[index] = { name: start.name, json: '' };
        calls[index]!.json += json;
      }
    }
    return { calls, text, finish };
  }
});
