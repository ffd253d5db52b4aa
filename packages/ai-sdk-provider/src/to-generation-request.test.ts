import { InvalidArgumentError, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { toGenerationRequest } from './to-generation-request.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
];
// The AI SDK passes settings that a caller left out as undefined.
const UNSET = { temperature: undefined, seed: undefined } as unknown as Partial<LanguageModelV4CallOptions>;
const map = (options: Partial<LanguageModelV4CallOptions> = {}, template: string | null = null) =>
  toGenerationRequest({ prompt, ...options }, template);

it('leaves everything open that a call leaves open, so that the defaults of the model apply', () => {
  const { request, warnings } = map({ ...UNSET, providerOptions: { ortler: {} } });
  expect(request).toStrictEqual({
    prompt: { messages: [{ role: 'user', content: 'Hi' }], template: { variables: {} } },
    sampling: {},
    stop: {},
  });
  expect(warnings).toEqual([]);
});

it('maps the settings of the AI SDK', () => {
  const { request } = map({
    maxOutputTokens: 20,
    temperature: 0,
    topP: 0.9,
    topK: 40,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stopSequences: ['\n'],
    seed: 7,
  });
  expect(request.sampling).toStrictEqual({
    temperature: 0,
    topP: 0.9,
    topK: 40,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    seed: 7n,
  });
  expect(request.stop).toStrictEqual({ strings: ['\n'], maxTokens: 20 });
});

it('maps the options of this provider', () => {
  const repetitionDetection = { minPatternSize: 1, maxPatternSize: 4, minCount: 8 };
  const { request } = map({
    providerOptions: {
      ortler: {
        minP: 0.05,
        repetitionPenalty: 1.1,
        logitBias: { 17: -100 },
        allowedTokenIds: [17, 18],
        badWords: ['um'],
        repetitionDetection,
        minTokens: 2,
        stopTokenIds: [5],
        ignoreEos: true,
        includeStopInOutput: true,
        skipSpecialTokens: false,
        logprobs: 3,
        truncatePromptTokens: 100,
        priority: 1,
        cachePartition: 'team',
      },
    },
  });
  expect(request).toMatchObject({
    sampling: {
      minP: 0.05,
      repetitionPenalty: 1.1,
      logitBias: [{ tokenId: 17, bias: -100 }],
      allowedTokenIds: [17, 18],
    },
    stop: { minTokens: 2, tokenIds: [5], ignoreEos: true, includeInOutput: true },
    badWords: ['um'],
    repetitionDetection,
    skipSpecialTokens: false,
    logprobs: { topCount: 3 },
    truncatePromptTokens: 100,
    priority: 1,
    cachePartition: 'team',
  });
});

it('hands template variables on; those that are named win over the reasoning setting', () => {
  const template = '{{ enable_thinking }}';
  const variablesOf = (options: Partial<LanguageModelV4CallOptions>) => map(options, template).request.prompt;
  expect(variablesOf({ reasoning: 'none' })).toMatchObject({
    template: { variables: { enable_thinking: false } },
  });
  const providerOptions = { ortler: { chatTemplateKwargs: { enable_thinking: true, tone: 'dry' } } };
  expect(variablesOf({ reasoning: 'none', providerOptions })).toMatchObject({
    template: { variables: { enable_thinking: true, tone: 'dry' } },
  });
});

it('reads the reasoning switch off the template of the request where it brings one', () => {
  const providerOptions = { ortler: { chatTemplate: '{{ enable_thinking }}' } };
  const { request, warnings } = map({ reasoning: 'none', providerOptions });
  expect(request.prompt).toMatchObject({
    template: { template: '{{ enable_thinking }}', variables: { enable_thinking: false } },
  });
  expect(warnings).toEqual([]);
});

it('continues the last message without opening another turn', () => {
  const { request } = map({ providerOptions: { ortler: { continueFinalMessage: true } } });
  expect(request.prompt).toMatchObject({
    template: { continueFinalMessage: true, addGenerationPrompt: false },
  });
  const closed = map({ providerOptions: { ortler: { continueFinalMessage: false } } });
  expect(closed.request.prompt).toMatchObject({ template: { variables: {} } });
  expect(closed.request.prompt).not.toHaveProperty('template.addGenerationPrompt');
});

it.each([0.5, 2 ** 53, Number.NaN])('refuses the seed %s', seed => {
  expect(() => map({ seed })).toThrow(InvalidArgumentError);
  expect(() => map({ seed })).toThrow('seed must be a safe integer');
});

it('collects the warnings of all settings', () => {
  const tools = [{ type: 'provider', id: 'a.clock', name: 'clock', args: {} }] as const;
  const { warnings } = map({ tools: [...tools], reasoning: 'high' });
  expect(warnings).toMatchObject([{ feature: 'tools[0]' }, { feature: 'reasoning' }]);
});

it.each<[LanguageModelV4CallOptions['toolChoice'], unknown]>([
  [undefined, { definitions: [{ name: 'clock', description: 'Time', parameters: { type: 'object' } }] }],
  [{ type: 'auto' }, expect.not.objectContaining({ choice: expect.anything() })],
  [{ type: 'required' }, expect.objectContaining({ choice: 'required' })],
  [{ type: 'tool', toolName: 'clock' }, expect.objectContaining({ choice: { name: 'clock' } })],
  [{ type: 'none' }, undefined],
])('offers tools under the choice %j', (toolChoice, expected) => {
  const tool = {
    type: 'function',
    name: 'clock',
    description: 'Time',
    inputSchema: { type: 'object' },
  } as const;
  const prompt: LanguageModelV4CallOptions['prompt'] = [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ];
  const { request } = toGenerationRequest({ prompt, tools: [tool], ...(toolChoice && { toolChoice }) }, null);
  expect(request.tools).toEqual(expected);
  const shown =
    typeof request.prompt === 'object' ? request.prompt.messages && request.prompt.template?.tools : null;
  const asFunction = { name: 'clock', description: 'Time', parameters: { type: 'object' } };
  expect(shown).toEqual(
    toolChoice?.type === 'none' ? [{ type: 'function', function: asFunction }] : undefined,
  );
});
