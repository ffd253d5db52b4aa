import { describe, expect, test } from 'vitest';
import type { GenerationRequest } from './generation-request.ts';
import { type RequestLimits, validateGenerationRequest } from './validate-generation-request.ts';

const LIMITS: RequestLimits = {
  vocabSize: 100,
  contextLength: 64,
  samplingDefaults: {},
  eosTokenIds: [7, 8],
  mainEosTokenId: 7,
};

function validate(changes: Partial<GenerationRequest>, limits: Partial<RequestLimits> = {}) {
  const prompt = { tokenIds: [1] } as const;
  return validateGenerationRequest({ prompt, ...changes }, { ...LIMITS, ...limits });
}

describe('a value out of range is refused by the path of its field', () => {
  const bias = (tokenId: number, amount = 1) => ({ tokenId, bias: amount });
  const detection = (minPatternSize: number, maxPatternSize: number, minCount: number) => ({
    repetitionDetection: { minPatternSize, maxPatternSize, minCount },
  });
  const text = { type: 'text', text: 'Hi' };
  const cases: readonly [Partial<GenerationRequest>, string][] = [
    [{ sampling: { frequencyPenalty: 2.1 } }, 'sampling.frequencyPenalty'],
    [{ sampling: { presencePenalty: -2.1 } }, 'sampling.presencePenalty'],
    [{ sampling: { presencePenalty: Number.NaN } }, 'sampling.presencePenalty'],
    [{ sampling: { repetitionPenalty: 0 } }, 'sampling.repetitionPenalty'],
    [{ sampling: { repetitionPenalty: -1 } }, 'sampling.repetitionPenalty'],
    [{ sampling: { repetitionPenalty: Infinity } }, 'sampling.repetitionPenalty'],
    [{ sampling: { logitBias: [bias(5), bias(100)] } }, 'sampling.logitBias[1].tokenId'],
    [{ sampling: { logitBias: [bias(-1)] } }, 'sampling.logitBias[0].tokenId'],
    [{ sampling: { logitBias: [bias(5), bias(5)] } }, 'sampling.logitBias[1]'],
    [{ sampling: { logitBias: [bias(5, Number.NaN)] } }, 'sampling.logitBias[0].bias'],
    [{ sampling: { allowedTokenIds: [] } }, 'sampling.allowedTokenIds'],
    [{ sampling: { allowedTokenIds: [0, 100] } }, 'sampling.allowedTokenIds[1]'],
    [{ sampling: { allowedTokenIds: [7, 8] }, stop: { minTokens: 1 } }, 'sampling.allowedTokenIds'],
    [{ logprobs: { topCount: 21 } }, 'logprobs.topCount'],
    [{ logprobs: { topCount: -1 } }, 'logprobs.topCount'],
    [{ promptLogprobs: { topCount: 21 } }, 'promptLogprobs.topCount'],
    [{ promptLogprobs: { topCount: 0.5 } }, 'promptLogprobs.topCount'],
    [detection(2, 1, 3), 'repetitionDetection.minPatternSize'],
    [detection(0, 3, 1), 'repetitionDetection.minCount'],
    [detection(0, -1, 2), 'repetitionDetection.maxPatternSize'],
    [detection(0.5, 3, 2), 'repetitionDetection.minPatternSize'],
    [{ beamSearch: { width: 11, lengthPenalty: 1 } }, 'beamSearch.width'],
    [{ beamSearch: { width: 0, lengthPenalty: 1 } }, 'beamSearch.width'],
    [{ beamSearch: { width: 2, lengthPenalty: Infinity } }, 'beamSearch.lengthPenalty'],
    [{ beamSearch: { width: 2, lengthPenalty: 1 }, choiceCount: 3 }, 'choiceCount'],
    [{ choiceCount: 2, sampling: { temperature: 0 } }, 'choiceCount'],
    [{ sampling: { seed: 42 as unknown as bigint } }, 'sampling.seed'],
    [{ priority: 1.5 }, 'priority'],
    [{ priority: Number.NaN }, 'priority'],
    [{ prompt: { tokenIds: Int32Array.of(1, 100) } }, 'prompt.tokenIds[1]'],
    [
      { prompt: { messages: [{ role: 'user', content: [text, { ...text, type: 'image_url' }] }] } },
      'prompt.messages[0].content[1]',
    ],
  ];
  test.each(cases)('%j', (changes, parameter) => {
    expect(() => validate(changes)).toThrow(expect.objectContaining({ code: 'invalid_request', parameter }));
  });
});

describe('validateGenerationRequest', () => {
  test('takes the ends of every range', () => {
    for (const penalty of [-2, 2]) {
      const { sampling } = validate({ sampling: { frequencyPenalty: penalty, presencePenalty: penalty } });
      expect(sampling).toMatchObject({ frequencyPenalty: penalty, presencePenalty: penalty });
    }
    for (const topCount of [0, 20]) {
      const valid = validate({ logprobs: { topCount }, promptLogprobs: { topCount } });
      expect(valid).toMatchObject({ logprobs: { topCount }, promptLogprobs: { topCount } });
    }
    for (const width of [1, 10]) {
      expect(validate({ beamSearch: { width, lengthPenalty: -1 } }).choiceCount).toBe(width);
    }
  });

  test('limits a bias to 100 either way', () => {
    const logitBias = [
      { tokenId: 1, bias: 1000 },
      { tokenId: 2, bias: -Infinity },
      { tokenId: 3, bias: 0.5 },
    ];
    expect(validate({ sampling: { logitBias } }).sampling.logitBias).toEqual([
      { tokenId: 1, bias: 100 },
      { tokenId: 2, bias: -100 },
      { tokenId: 3, bias: 0.5 },
    ]);
  });

  test('names every allowed id once', () => {
    const valid = validate({ sampling: { allowedTokenIds: [3, 1, 3] } });
    expect(valid.sampling.allowedTokenIds).toEqual([3, 1]);
  });

  test('allows ends alone where no minimum keeps them away, and a minimum where another token is allowed', () => {
    validate({ sampling: { allowedTokenIds: [7] } });
    validate({ sampling: { allowedTokenIds: [7, 1] }, stop: { minTokens: 2 } });
  });

  test('turns repetition detection with sizes of 0 off, whatever its count', () => {
    const settings = { minPatternSize: 0, maxPatternSize: 0, minCount: 0 };
    expect(validate({ repetitionDetection: settings }).rules.repetitionDetection).toBeUndefined();
    const on = { minPatternSize: 0, maxPatternSize: 1, minCount: 2 };
    expect(validate({ repetitionDetection: on }).rules.repetitionDetection).toEqual(on);
  });

  test('lets a beam search be greedy and ignores its minimum', () => {
    const valid = validate({
      beamSearch: { width: 3, lengthPenalty: 1 },
      choiceCount: 3,
      sampling: { temperature: 0 },
      stop: { minTokens: 5, maxTokens: 3 },
    });
    expect(valid).toMatchObject({ choiceCount: 3, rules: { minTokens: 0, minTokensBannedIds: [] } });
  });

  test("takes the model's defaults where the request says nothing", () => {
    const samplingDefaults = { repetitionPenalty: 1.1, topK: 20 };
    const { sampling } = validate({ sampling: { topK: 5 } }, { samplingDefaults });
    expect(sampling).toMatchObject({ repetitionPenalty: 1.1, topK: 5, frequencyPenalty: 0 });
  });

  test('takes an undefined setting as one that is left out', () => {
    const sampling: object = { temperature: undefined, topK: undefined, seed: undefined };
    expect(validate({ sampling }, { samplingDefaults: { topK: 20 } }).sampling).toEqual(
      validate({}, { samplingDefaults: { topK: 20 } }).sampling,
    );
  });
});
