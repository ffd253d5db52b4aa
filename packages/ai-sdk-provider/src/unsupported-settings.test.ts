import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { findUnsupportedSettings } from './unsupported-settings.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
];
const featuresOf = (options: Partial<LanguageModelV4CallOptions>) =>
  findUnsupportedSettings({ prompt, ...options }).map(warning => [
    warning.type,
    'feature' in warning && warning.feature,
  ]);

const tool = { type: 'function', name: 'clock', inputSchema: { type: 'object' } } as const;
const settings = (changes: object) => changes as Partial<LanguageModelV4CallOptions>;

it.each<[string, Partial<LanguageModelV4CallOptions>]>([
  ['tools[0]', { tools: [{ type: 'provider', id: 'openai.web_search', name: 'search', args: {} }] }],
  ['tools[0].inputExamples', { tools: [{ ...tool, inputExamples: [{ input: {} }] }] }],
  ['toolChoice', { toolChoice: { type: 'required' } }],
  ['toolChoice', { toolChoice: { type: 'tool', toolName: 'clock' } }],
  ['responseFormat.name', { responseFormat: { type: 'json', name: 'city' } }],
  ['responseFormat.description', { responseFormat: { type: 'json', description: 'A city.' } }],
  ['headers', { headers: { 'User-Agent': 'ai/7', authorization: 'Bearer key' } }],
  ['thinkHarder', settings({ thinkHarder: true })],
  [
    'providerOptions.ortler of a message',
    { prompt: [{ ...prompt[0]!, providerOptions: { ortler: { cachePartition: 'a' } } }] },
  ],
  [
    'providerOptions.ortler of a message',
    {
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'Hi', providerOptions: { ortler: { a: 1 } } }] },
      ],
    },
  ],
])('warns that %s is unsupported', (feature, options) => {
  expect(featuresOf(options)).toEqual([['unsupported', feature]]);
});

it('gives no warning for settings that are served or off, and for headers of the AI SDK itself', () => {
  expect(
    featuresOf({
      temperature: 0,
      tools: [tool],
      toolChoice: { type: 'required' },
      responseFormat: { type: 'json', schema: { type: 'object' } },
      headers: { 'user-agent': 'ai/7', authorization: undefined },
      providerOptions: { openai: { user: 'me' } },
      includeRawChunks: true,
      ...settings({ later: undefined }),
    }),
  ).toEqual([]);
});
