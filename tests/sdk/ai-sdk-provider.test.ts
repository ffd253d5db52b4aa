// The AI SDK's own functions over a model in this process, through @ortler/ai-sdk-provider. The demo model answers.

import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { type OrtlerMetadata, type OrtlerProviderOptions, ortler } from '@ortler/ai-sdk-provider';
import { createEngine, type Engine } from '@ortler/engine';
import { ensureModel } from '@ortler/model-builder';
import {
  customProvider,
  generateObject,
  generateText,
  jsonSchema,
  Output,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { loadModel } from 'ortler';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { REPOSITORY } from '../support/server.ts';

/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };
const QUESTION = 'What is the capital of France?';
const citySchema = z.object({
  city: z.enum(['Paris', 'Rome']),
  facts: z.array(z.enum(['old', 'big'])).max(2),
});

let modelDir: string;
let engine: Engine;
beforeAll(async () => {
  modelDir = await ensureModel({
    sourceDir: join(REPOSITORY, 'models/demo'),
    cacheDir: join(REPOSITORY, '.cache/models'),
    precision: 'q8',
  });
  engine = await createEngine({ modelDir });
});
afterAll(() => engine?.close());

/** What every call here has in common; greedy, so that two calls say the same. */
const call = (prompt: string, own: OrtlerProviderOptions = {}) => ({
  model: ortler(engine, { modelId: 'demo' }),
  prompt,
  temperature: 0,
  providerOptions: { ortler: own as Record<string, never> },
});

const metadataOf = (providerMetadata: Record<string, unknown> | undefined) =>
  providerMetadata?.ortler as OrtlerMetadata;

describe('generateText', () => {
  test('answers with its usage, its finish reason and no warning', async () => {
    const result = await generateText(call(QUESTION));
    expect(result.text).toContain('Paris');
    expect(result.finishReason).toBe('stop');
    expect(result.rawFinishReason).toBe('stop');
    expect(result.warnings).toEqual([]);
    expect(result.reasoningText).toBeUndefined();
    const { inputTokens, outputTokens, totalTokens } = result.usage;
    expect(totalTokens).toBe(inputTokens! + outputTokens!);
    expect(outputTokens).toBeGreaterThan(1);
    expect(result.response.modelId).toBe('demo');
    expect(result.response.id).toMatch(/^ortler-/);
  });

  test('reports the prompt tokens that prefix caching saved', async () => {
    const request = call(
      'Say hello to Ada, to Grace, to Barbara, to Frances and to Jean, please. '.repeat(4),
    );
    await generateText(request);
    const { usage } = await generateText(request);
    expect(usage.inputTokenDetails.cacheReadTokens).toBeGreaterThan(0);
    const { noCacheTokens, cacheReadTokens } = usage.inputTokenDetails;
    expect(noCacheTokens! + cacheReadTokens!).toBe(usage.inputTokens);
  });

  test('ends by length, by a stop sequence, and reports which', async () => {
    const cut = await generateText({ ...call(QUESTION), maxOutputTokens: 2 });
    expect(cut.finishReason).toBe('length');
    expect(cut.usage.outputTokens).toBe(2);
    const stopped = await generateText({ ...call(QUESTION), stopSequences: ['Paris'] });
    expect(stopped.finishReason).toBe('stop');
    expect(stopped.text).not.toContain('Paris');
    expect(metadataOf(stopped.providerMetadata).stopReason).toBe('Paris');
  });

  test('follows system prompts and the turns before', async () => {
    const { text } = await generateText({
      ...call(''),
      prompt: undefined as never,
      messages: [
        { role: 'user', content: 'My name is Ada.' },
        { role: 'assistant', content: 'Nice to meet you, Ada!' },
        { role: 'user', content: [{ type: 'text', text: 'What is my name?' }] },
      ],
    });
    expect(text).toContain('Ada');
  });

  test('the same seed draws the same text, another one another', async () => {
    const drawn = async (seed: number) => {
      const { text } = await generateText({ ...call('Tell me something.'), temperature: 2, seed });
      return text;
    };
    const first = await drawn(1);
    expect(await drawn(1)).toBe(first);
    expect(new Set([first, await drawn(2), await drawn(3), await drawn(4)]).size).toBeGreaterThan(1);
  });

  test('gives reasoning as a part of its own, with its tokens', async () => {
    const result = await generateText({ ...call('What is 7 plus 5?'), reasoning: 'high' });
    expect(result.reasoningText).toMatch(/\d/);
    expect(result.text).toContain('12');
    expect(result.text).not.toContain('think>');
    const { reasoningTokens, textTokens } = result.usage.outputTokenDetails;
    expect(reasoningTokens).toBeGreaterThan(0);
    expect(reasoningTokens! + textTokens!).toBe(result.usage.outputTokens);
    const silent = await generateText({ ...call('What is 7 plus 5?'), reasoning: 'none' });
    expect(silent.reasoningText).toBeUndefined();
    expect(silent.usage.outputTokenDetails.reasoningTokens).toBe(0);
  });

  test('gives log probabilities of every token in its metadata', async () => {
    const { text, usage, providerMetadata } = await generateText(call(QUESTION, { logprobs: 2 }));
    const logprobs = metadataOf(providerMetadata).logprobs!;
    expect(logprobs).toHaveLength(usage.outputTokens!);
    expect(logprobs.map(token => token.text).join('')).toContain(text.trim());
    for (const { logprob, rank, top, bytes } of logprobs) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(rank).toBe(1);
      expect(top).toHaveLength(2);
      expect(bytes.length).toBeGreaterThan(0);
    }
  });

  test.each<[OrtlerProviderOptions['constraint'], RegExp]>([
    [{ regex: '[A-Z]{3}-[0-9]{2}' }, /^[A-Z]{3}-\d{2}$/],
    [{ choice: ['yes', 'no'] }, /^(yes|no)$/],
    [{ grammar: 'root ::= "a" "b"+ "c"' }, /^ab+c$/],
  ])('follows the constraint %j', async (constraint, pattern) => {
    const { text } = await generateText({ ...call('Go on.', { constraint }), maxOutputTokens: 40 });
    expect(text).toMatch(pattern);
  });

  test('has the typed output of a schema', async () => {
    const { output } = await generateText({
      ...call(QUESTION),
      output: Output.object({ schema: citySchema }),
    });
    expect(citySchema.parse(output)).toEqual(output);
  });

  test('shows the model its tools, and gives the call that it is asked for', async () => {
    const clock = tool({ inputSchema: z.object({ zone: z.enum(['UTC', 'CET']) }), execute: () => 'noon' });
    const plain = await generateText(call(QUESTION));
    const { toolCalls, warnings, usage } = await generateText({
      ...call(QUESTION),
      tools: { clock },
      toolChoice: 'required',
    });
    expect(warnings).toEqual([]);
    expect(usage.inputTokens).toBeGreaterThan(plain.usage.inputTokens!);
    expect(toolCalls).toEqual([expect.objectContaining({ toolName: 'clock' })]);
    expect(['UTC', 'CET']).toContain((toolCalls[0] as { input: { zone: string } }).input.zone);
  });

  test('refuses images, misspelt options and values out of range by name', async () => {
    const image = generateText({
      ...call(''),
      prompt: [
        { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: new Uint8Array(4) }] },
      ],
    });
    await expect(image).rejects.toSatisfy(UnsupportedFunctionalityError.isInstance);
    const misspelt = generateText({ ...call(QUESTION), providerOptions: { ortler: { min_p: 0.1 } } });
    await expect(misspelt).rejects.toThrow('Unrecognized key: "min_p". Its options: minP');
    const wrong = generateText({ ...call(QUESTION), temperature: 3 });
    await expect(wrong).rejects.toSatisfy(InvalidArgumentError.isInstance);
    await expect(wrong).rejects.toThrow('temperature must be 0 to 2; got 3.');
    const long = generateText(call('word '.repeat(5000)));
    await expect(long).rejects.toThrow("Invalid prompt: This model's maximum context length is 2048 tokens");
  });

  test('tries a full engine again', async () => {
    const small = await createEngine({ modelDir, maxSequences: 1, tuning: { maxQueuedSequences: 1 } });
    try {
      const request = {
        ...call('Count up.', { ignoreEos: true }),
        model: ortler(small),
        maxOutputTokens: 1_500,
      };
      const open = [request, request].map(each => generateText(each));
      await vi.waitFor(() => expect(small.health.stats.waitingCount).toBe(1), PATIENCE);
      const refused = generateText({ ...request, maxRetries: 0 });
      await expect(refused).rejects.toMatchObject({ statusCode: 429, isRetryable: true });
      const tried = generateText({ ...request, maxOutputTokens: 2, maxRetries: 8 });
      expect(await tried.then(({ finishReason }) => finishReason)).toBe('length');
      await Promise.all(open);
    } finally {
      await small.close();
    }
  });

  test('serves a model by its id through the provider of the AI SDK', async () => {
    const provider = customProvider({ languageModels: { demo: ortler(engine) } });
    const { text } = await generateText({ ...call(QUESTION), model: provider.languageModel('demo') });
    expect(text).toContain('Paris');
  });
});

test('a model of package ortler takes the place of an engine', async () => {
  await using model = await loadModel(join(REPOSITORY, 'models/demo'), {
    device: 'cpu',
    precision: 'q8',
    cacheDir: join(REPOSITORY, '.cache/models'),
  });
  const { text } = await generateText({ ...call(QUESTION), model: ortler(model) });
  expect(text).toContain('Paris');
});

describe('streamText', () => {
  test('streams what generateText gives, piece by piece', async () => {
    // Long, because a reader who comes late gets several pieces together.
    const request = { ...call(QUESTION, { ignoreEos: true }), maxOutputTokens: 500 };
    const whole = await generateText(request);
    const stream = streamText(request);
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(whole.text);
    expect(await stream.finishReason).toBe('length');
    expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens);
    expect((await stream.response).modelId).toBe('demo');
  });

  test('streams reasoning before the text', async () => {
    const stream = streamText({ ...call('What is 7 plus 5?'), reasoning: 'high' });
    const kinds: string[] = [];
    for await (const { type } of stream.fullStream) if (kinds.at(-1) !== type) kinds.push(type);
    const blocks = kinds.filter(kind => /^(reasoning|text)-/.test(kind));
    expect(blocks).toEqual([
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
    ]);
    expect(await stream.reasoningText).toMatch(/\d/);
    expect(await stream.text).toContain('12');
  });

  test('gives the events of the engine as raw chunks', async () => {
    const stream = streamText({ ...call(QUESTION), include: { rawChunks: true } });
    const kinds = new Set<string>();
    for await (const part of stream.fullStream)
      if (part.type === 'raw') kinds.add((part.rawValue as { kind: string }).kind);
    expect([...kinds]).toEqual(['prompt-ready', 'token-delta', 'request-finish']);
  });

  test('ends with an abort part when its signal fires, and frees the engine', async () => {
    const controller = new AbortController();
    const stream = streamText({
      ...call('Count up.', { ignoreEos: true }),
      maxOutputTokens: 1500,
      abortSignal: controller.signal,
    });
    const kinds: string[] = [];
    for await (const { type } of stream.fullStream) {
      kinds.push(type);
      if (type === 'text-delta') controller.abort();
    }
    expect(kinds.at(-1)).toBe('abort');
    await vi.waitFor(() => expect(engine.health.stats.runningCount).toBe(0), PATIENCE);
  });
});

test('generateText rejects with the reason of an abort', async () => {
  const signal = AbortSignal.timeout(20);
  const request = { ...call('Count up.', { ignoreEos: true }), maxOutputTokens: 1900, abortSignal: signal };
  await expect(generateText(request)).rejects.toMatchObject({ name: 'TimeoutError' });
  await vi.waitFor(() => expect(engine.health.stats.runningCount).toBe(0), PATIENCE);
});

describe('generateObject and streamObject', () => {
  test('give an object of a zod schema', async () => {
    const { object, finishReason, warnings } = await generateObject({
      ...call(QUESTION),
      schema: citySchema,
    });
    expect(citySchema.parse(object)).toEqual(object);
    expect(finishReason).toBe('stop');
    expect(warnings).toEqual([]);
  });

  test('give an object of a JSON Schema after the reasoning', async () => {
    const schema = jsonSchema<{ sum: number }>({
      type: 'object',
      properties: { sum: { type: 'integer' } },
      required: ['sum'],
      additionalProperties: false,
    });
    const { object, reasoning } = await generateObject({
      ...call('What is 7 plus 5?', { chatTemplateKwargs: { enable_thinking: true } }),
      schema,
    });
    expect(object).toEqual({ sum: expect.any(Number) });
    expect(reasoning).toMatch(/\d/);
  });

  test('give one of given values, and any JSON without a schema', async () => {
    const choice = await generateObject({ ...call(QUESTION), output: 'enum', enum: ['Paris', 'Rome'] });
    expect(choice.object).toBe('Paris');
    const free = await generateObject({
      ...call('Extract the fields name and city from: Ada lives in Rome.'),
      output: 'no-schema',
    });
    expect(free.object).toEqual(expect.any(Object));
  });

  test('stream parts of the object that grow into the whole', async () => {
    const stream = streamObject({ ...call(QUESTION), schema: citySchema });
    const partial: unknown[] = [];
    for await (const object of stream.partialObjectStream) partial.push(object);
    expect(partial.length).toBeGreaterThan(1);
    expect(citySchema.parse(partial.at(-1))).toEqual(await stream.object);
    expect(await stream.finishReason).toBe('stop');
    expect((await stream.usage).outputTokens).toBeGreaterThan(1);
  });
});

test('the example of the README runs as it is written', async () => {
  const example = join(import.meta.dirname, 'examples/ai-sdk-provider.ts');
  const readme = await readFile(join(REPOSITORY, 'packages/ai-sdk-provider/README.md'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${await readFile(example, 'utf8')}\`\`\``);
  const folder = await mkdtemp(join(tmpdir(), 'ortler-ai-sdk-'));
  const before = process.cwd();
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await symlink(modelDir, join(folder, 'model'));
    process.chdir(folder);
    await import('./examples/ai-sdk-provider.ts');
    expect(log.mock.calls.flat().join('')).toContain('Paris');
  } finally {
    log.mockRestore();
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
});
