import { chatCompletionRequest, completionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { choiceCountOf, PARAMETERS, readParameters } from './parameters.ts';

/** Some fields of other endpoints are known only to be refused. */
function takes({ shape }: typeof chatCompletionRequest | typeof completionRequest, name: string): boolean {
  const field = Object.hasOwn(shape, name) ? shape[name as keyof typeof shape] : undefined;
  const fault = field?.safeParse({}).error?.issues[0]?.message ?? '';
  return field !== undefined && !fault.includes('is not supported');
}

describe('readParameters', () => {
  it('offers parameters that the requests have', () => {
    for (const { name, only } of PARAMETERS) {
      expect(takes(chatCompletionRequest, name), name).toBe(only !== 'completion' || name === 'max_tokens');
      expect(takes(completionRequest, name), name).toBe(only !== 'chat');
    }
  });

  it('leaves empty fields and those of the other request out', () => {
    const texts = { temperature: ' ', max_tokens: '5', max_completion_tokens: '7', reasoning_effort: 'low' };
    expect(readParameters(texts, 'chat').fields).toEqual({
      max_completion_tokens: 7,
      reasoning_effort: 'low',
    });
    expect(readParameters(texts, 'completion').fields).toEqual({ max_tokens: 5 });
  });

  it('reads each kind', () => {
    const texts = {
      temperature: '0.7',
      seed: '9007199254740993',
      top_k: '-1',
      ignore_eos: 'false',
      stop: 'END\n\\n\\n\n',
      stop_token_ids: '1, 2\n3',
      logit_bias: '{"5": -100}',
    };
    expect(readParameters(texts, 'chat')).toEqual({
      faults: {},
      fields: {
        temperature: 0.7,
        seed: 9007199254740993n,
        top_k: -1,
        ignore_eos: false,
        stop: ['END', '\n\n'],
        stop_token_ids: [1, 2, 3],
        logit_bias: { '5': -100 },
      },
    });
  });

  it('counts the answers that a request asks for', () => {
    expect(choiceCountOf({}, 'chat')).toBe(1);
    expect(choiceCountOf({ n: '3' }, 'completion')).toBe(3);
    // The server says what is wrong with it.
    expect(choiceCountOf({ n: '0' }, 'chat')).toBe(1);
    expect(readParameters({ n: '17' }, 'chat').faults).toHaveProperty('n');
  });

  it('names the field of a text that it cannot read', () => {
    const { fields, faults } = readParameters(
      { temperature: 'hot', seed: '1.5', stop_token_ids: 'a', logit_bias: '{' },
      'chat',
    );
    expect(fields).toEqual({});
    expect(Object.keys(faults)).toEqual(['temperature', 'seed', 'stop_token_ids', 'logit_bias']);
  });
});
