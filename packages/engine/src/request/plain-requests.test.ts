// A request written as a plain variable has the types that TypeScript infers for it, with every literal widened. That these
// compile is the test; `tsc` runs over it.

import { describe, expect, test } from 'vitest';
import type { GenerationRequest } from './generation-request.ts';
import { validateGenerationRequest } from './validate-generation-request.ts';

const chat = {
  prompt: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    template: { variables: { enable_thinking: false } },
  },
  sampling: { temperature: 0.5, seed: 7n, logitBias: [{ tokenId: 1, bias: 2 }] },
  stop: { strings: ['\n'], maxTokens: 9 },
  constraint: { jsonSchema: { type: 'object' }, strict: true },
  logprobs: { topCount: 2 },
};
const text = { prompt: { text: 'Once', addSpecialTokens: false }, constraint: { regex: 'a+' } };
const plain = { prompt: 'Once', constraint: { choice: ['yes', 'no'] } };
const tokens = { prompt: { tokenIds: [1, 2] }, constraint: { jsonObject: true } };
const typedTokens = { prompt: { tokenIds: Int32Array.of(1, 2) }, constraint: { grammar: 'start: "a"' } };

describe('a request in a plain variable', () => {
  const requests: readonly GenerationRequest[] = [chat, text, plain, tokens, typedTokens];
  test.each(requests.entries().toArray())('compiles and is valid (%i)', (_, request) => {
    const limits = { vocabSize: 100, contextLength: 64, samplingDefaults: {}, eosTokenIds: [7] };
    expect(() => validateGenerationRequest(request, { ...limits, mainEosTokenId: 7 })).not.toThrow();
  });

  test('names its prompt in one way only', () => {
    // @ts-expect-error A prompt is a conversation, a text or tokens.
    const both: GenerationRequest = { prompt: { text: 'Once', tokenIds: [1] } };
    expect(Object.keys(both)).toEqual(['prompt']);
  });
});
