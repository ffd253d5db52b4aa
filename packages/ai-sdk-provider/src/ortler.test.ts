import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EngineError, type FinishReason, type TokenDeltaEvent } from '@ortler/engine';
import { expect, it } from 'vitest';
import { createFakeEngine, type FakeEngineScript } from '../test/fake-engine.ts';
import { createLanguageModel } from './create-language-model.ts';
import type { GenerationEngine } from './generation-engine.ts';
import { ortler } from './ortler.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
];
const TIMESTAMP = new Date(1000);

const modelOver = (engine: GenerationEngine) =>
  createLanguageModel(engine, { modelId: 'demo', createResponseId: () => 'id-1', now: () => TIMESTAMP });

async function partsOf(
  script: FakeEngineScript,
  options: Partial<LanguageModelV4CallOptions> = {},
): Promise<LanguageModelV4StreamPart[]> {
  const { stream } = await modelOver(createFakeEngine(script)).doStream({ prompt, ...options });
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const THOUGHT: readonly Partial<TokenDeltaEvent>[] = [
  { isReasoning: true },
  { reasoning: 'Hm', isReasoning: true },
  { reasoning: '.', isReasoning: true },
  {},
  { text: 'Yes' },
  { text: '.' },
];

it('gives text and reasoning in blocks of their own, each opened and closed once', async () => {
  const parts = await partsOf({ deltas: THOUGHT });
  expect(parts.slice(0, -1)).toEqual([
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'id-1', timestamp: TIMESTAMP, modelId: 'demo' },
    { type: 'reasoning-start', id: 'reasoning-0' },
    { type: 'reasoning-delta', id: 'reasoning-0', delta: 'Hm' },
    { type: 'reasoning-delta', id: 'reasoning-0', delta: '.' },
    { type: 'reasoning-end', id: 'reasoning-0' },
    { type: 'text-start', id: 'text-1' },
    { type: 'text-delta', id: 'text-1', delta: 'Yes' },
    { type: 'text-delta', id: 'text-1', delta: '.' },
    { type: 'text-end', id: 'text-1' },
  ]);
});

it('counts cached tokens of the prompt, and tokens up to the end of the reasoning', async () => {
  expect((await partsOf({ deltas: THOUGHT })).at(-1)).toEqual({
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 4, noCache: 1, cacheRead: 3, cacheWrite: undefined },
      outputTokens: { total: 6, text: 3, reasoning: 3 },
      raw: { promptTokenCount: 4, cachedTokenCount: 3, completionTokenCount: 6 },
    },
    providerMetadata: { ortler: { stopReason: null, timing: { queuedMs: 1, prefillMs: 2, decodeMs: 3 } } },
  });
});

it('counts reasoning that is cut off before it has a text', async () => {
  const finish = { reason: 'length', stopReason: null } as const;
  const parts = await partsOf({ deltas: [{ isReasoning: true }, { isReasoning: true, finish }] });
  expect(parts.at(-1)).toMatchObject({ usage: { outputTokens: { total: 2, text: 0, reasoning: 2 } } });
});

it('joins the parts of a stream in a result that is not streamed', async () => {
  const engine = createFakeEngine({ deltas: THOUGHT });
  const result = await modelOver(engine).doGenerate({ prompt });
  const parts = await partsOf({ deltas: THOUGHT });
  expect(result.content).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Yes.' },
  ]);
  const { finishReason, usage, providerMetadata } = result;
  expect({ type: 'finish', finishReason, usage, providerMetadata }).toEqual(parts.at(-1));
  expect(result.response).toEqual({ id: 'id-1', timestamp: TIMESTAMP, modelId: 'demo' });
  expect(result.warnings).toEqual([]);
});

it.each<[FinishReason, string]>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool-calls', 'tool-calls'],
  ['repetition', 'other'],
  ['abort', 'interrupted'],
  ['error', 'error'],
])('the finish reason %s of the engine is %s', async (reason, unified) => {
  const finish = { reason, stopReason: '\n' };
  const last = (await partsOf({ deltas: [{ text: 'a', finish }] })).at(-1);
  expect(last).toMatchObject({ finishReason: { unified, raw: reason } });
  expect(last).toMatchObject({ providerMetadata: { ortler: { stopReason: '\n' } } });
});

it('gives the log probabilities of all tokens as plain JSON', async () => {
  const top = { tokenId: 7, text: 'A', bytes: Uint8Array.of(65), logprob: -0.5, rank: 1 };
  const token = { tokenId: 8, text: 'B', bytes: Uint8Array.of(66), logprob: -1, rank: 2, top: [top] };
  const deltas = [{ logprobs: [token] }, { text: 'B', logprobs: [{ ...token, top: [] }] }];
  const { providerMetadata } = await modelOver(createFakeEngine({ deltas })).doGenerate({ prompt });
  const plain = { tokenId: 8, text: 'B', bytes: [66], logprob: -1, rank: 2 };
  const logprobs = [
    { ...plain, top: [{ ...top, bytes: [65] }] },
    { ...plain, top: [] },
  ];
  expect(providerMetadata?.ortler).toMatchObject({ logprobs });
  expect(JSON.parse(JSON.stringify(providerMetadata))).toEqual(providerMetadata);
});

it('gives raw chunks only when they are asked for, before their parts', async () => {
  expect(await partsOf({})).not.toContainEqual(expect.objectContaining({ type: 'raw' }));
  const parts = await partsOf({}, { includeRawChunks: true });
  expect(
    parts.map(part => (part.type === 'raw' ? (part.rawValue as { kind: string }).kind : part.type)),
  ).toEqual([
    'stream-start',
    'response-metadata',
    'prompt-ready',
    'token-delta',
    'text-start',
    'text-delta',
    'token-delta',
    'text-delta',
    'request-finish',
    'text-end',
    'finish',
  ]);
});

it('refuses before there is a stream, with an error of the AI SDK', async () => {
  const refusal = new EngineError('invalid_request', 'topP must be at most 1.', {
    parameter: 'sampling.topP',
  });
  const model = modelOver(createFakeEngine({ refusal }));
  await expect(model.doStream({ prompt })).rejects.toMatchObject({ argument: 'topP' });
  await expect(model.doGenerate({ prompt })).rejects.toMatchObject({ argument: 'topP' });
});

it('reports a failure in the middle as an error part and a finish with the tokens so far', async () => {
  const failure = new EngineError('engine_failed', 'The model failed.');
  const parts = await partsOf({ deltas: [{ text: 'a' }, { text: 'b' }], failure });
  expect(parts.slice(-3)).toMatchObject([
    { type: 'text-end' },
    { type: 'error', error: failure },
    { type: 'finish', finishReason: { unified: 'error' }, usage: { outputTokens: { total: 2 } } },
  ]);
  await expect(modelOver(createFakeEngine({ failure })).doGenerate({ prompt })).rejects.toBe(failure);
});

it('ends with the reason of an abort, before and during the answer', async () => {
  const controller = new AbortController();
  const engine = createFakeEngine();
  const { stream } = await modelOver(engine).doStream({ prompt, abortSignal: controller.signal });
  const reader = stream.getReader();
  await reader.read();
  const reason = new Error('Enough.');
  controller.abort(reason);
  const rest = (async () => {
    while (!(await reader.read()).done);
  })();
  await expect(rest).rejects.toBe(reason);
  expect(engine.endedCount).toBe(1);
  const again = modelOver(engine).doGenerate({ prompt, abortSignal: controller.signal });
  await expect(again).rejects.toBe(reason);
});

it.each([0, 1, 4])('ends the generation of a stream that is cancelled after %i parts', async count => {
  const engine = createFakeEngine();
  const { stream } = await modelOver(engine).doStream({ prompt });
  const reader = stream.getReader();
  for (let part = 0; part < count; part++) await reader.read();
  expect(engine.endedCount).toBe(0);
  await reader.cancel();
  expect(engine.endedCount).toBe(1);
});

it('asks the engine for a delta only when the stream is read', async () => {
  const engine = createFakeEngine({ deltas: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] });
  const { stream } = await modelOver(engine).doStream({ prompt });
  await new Promise(resolve => setImmediate(resolve));
  expect(engine.readCount).toBe(0);
  const reader = stream.getReader();
  for (let part = await reader.read(); part.value?.type !== 'text-delta'; ) part = await reader.read();
  expect(engine.readCount).toBe(1);
});

it('takes an engine, or a loaded model that has one', async () => {
  const engine = createFakeEngine();
  for (const source of [engine, { engine }]) {
    const model = ortler(source);
    expect(model).toMatchObject({ specificationVersion: 'v4', provider: 'ortler', modelId: 'llama' });
    expect(model.supportedUrls).toEqual({});
    const { content, response } = await model.doGenerate({ prompt });
    expect(content).toEqual([{ type: 'text', text: 'Hello there' }]);
    expect(response?.id).toMatch(/^ortler-[\da-f-]{36}$/);
  }
  expect(engine.requests).toHaveLength(2);
  expect(ortler(engine, { modelId: 'mine' }).modelId).toBe('mine');
});

const CALL = { id: 'call_1', name: 'clock' };
const CALLING: readonly Partial<TokenDeltaEvent>[] = [
  { text: 'I look.' },
  { toolCalls: [{ index: 0, start: CALL, arguments: '' }] },
  { toolCalls: [{ index: 0, arguments: '{"zone"' }] },
  {
    toolCalls: [
      { index: 0, arguments: ':"CET"}' },
      { index: 1, start: { ...CALL, id: 'call_2' }, arguments: '{}' },
    ],
    finish: { reason: 'tool-calls', stopReason: null },
  },
];

it('gives tool calls with their input as it streams, and whole', async () => {
  const parts = await partsOf({ deltas: CALLING });
  expect(parts.slice(2, -1)).toEqual([
    { type: 'text-start', id: 'text-0' },
    { type: 'text-delta', id: 'text-0', delta: 'I look.' },
    { type: 'text-end', id: 'text-0' },
    { type: 'tool-input-start', id: 'call_1', toolName: 'clock' },
    { type: 'tool-input-delta', id: 'call_1', delta: '{"zone"' },
    { type: 'tool-input-delta', id: 'call_1', delta: ':"CET"}' },
    { type: 'tool-input-end', id: 'call_1' },
    { type: 'tool-call', toolCallId: 'call_1', toolName: 'clock', input: '{"zone":"CET"}' },
    { type: 'tool-input-start', id: 'call_2', toolName: 'clock' },
    { type: 'tool-input-delta', id: 'call_2', delta: '{}' },
    { type: 'tool-input-end', id: 'call_2' },
    { type: 'tool-call', toolCallId: 'call_2', toolName: 'clock', input: '{}' },
  ]);
  const { content, finishReason } = await modelOver(createFakeEngine({ deltas: CALLING })).doGenerate({
    prompt,
  });
  expect(finishReason).toEqual({ unified: 'tool-calls', raw: 'tool-calls' });
  expect(content).toMatchObject([
    { type: 'text' },
    { type: 'tool-call' },
    { type: 'tool-call', input: '{}' },
  ]);
});

it('gives no call for an input that was cut off', async () => {
  const finish = { reason: 'length', stopReason: null } as const;
  const parts = await partsOf({ deltas: [...CALLING.slice(0, 3), { finish }] });
  expect(parts.map(({ type }) => type).slice(-3)).toEqual(['tool-input-delta', 'tool-input-end', 'finish']);
});

it.each([
  ['null', null, 'takes an engine or a loaded model.'],
  ['an empty object', {}, 'takes an engine or a loaded model.'],
  ['a model that is still loading', Promise.resolve({}), 'await the promise first.'],
])('refuses %s in place of an engine', (_, source, message) => {
  expect(() => ortler(source as never)).toThrow(
    expect.objectContaining({ name: 'AI_InvalidArgumentError', message: expect.stringContaining(message) }),
  );
});
