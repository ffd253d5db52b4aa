import { describe, expect, test } from 'vitest';
import { Generation } from './generation.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { TokenLogprobs } from './request/token-logprobs.ts';
import { ChoiceAssembler } from './text/choice-assembler.ts';
import { Detokenizer } from './text/detokenizer.ts';
import { TokenBytes } from './text/token-bytes.ts';

const tokenBytes = new TokenBytes({
  model: { type: 'BPE', vocab: { a: 0, b: 1, c: 2 }, merges: [] },
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: { type: 'ByteLevel' },
});

const logprobsOf = (tokenId: number): TokenLogprobs => ({
  tokenId,
  logprob: -1,
  rank: 1,
  topTokenIds: new Int32Array(0),
  topLogprobs: new Float32Array(0),
});

describe('Generation', () => {
  test('drops the log probabilities of tokens that came after a stop string with it', async () => {
    const generation = new Generation({
      promptTokenIds: Int32Array.of(2),
      assemblers: [
        new ChoiceAssembler({
          detokenizer: new Detokenizer(tokenBytes, { skipSpecialTokens: true }),
          stopStrings: ['b'],
          includeStopInOutput: false,
          minTokens: 0,
        }),
      ],
      tokenBytes,
      eosTokenIds: [],
      checkAnswer: null,
      abortChoice: () => undefined,
      setChoicePaused: () => undefined,
    });
    generation.start({ requestId: 1, cachedTokenCount: 0 });
    const tokenIds = [0, 1, 2];
    generation.update({ requestId: 1, choiceIndex: 0, tokenIds, logprobs: tokenIds.map(logprobsOf) });
    const events: GenerationEvent[] = [];
    for await (const event of generation.events()) events.push(event);
    expect(events[1]).toMatchObject({
      kind: 'choice-finish',
      text: 'a',
      tokenIds: [0, 1],
      logprobs: [{ text: 'a' }, { text: 'b' }],
    });
    expect(events[1]).toHaveProperty('logprobs.length', 2);
  });
});
