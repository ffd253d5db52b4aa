import { expect, it } from 'vitest';
import { promptTooLong } from './prompt-too-long.ts';

const BEGIN = "This model's maximum context length is 512 tokens. However, you requested";

it.each([
  [{ promptLength: 500, maxTokens: 20 }, '520 tokens (500 in the prompt, 20 in the completion).'],
  [{ promptLength: 512 }, 'at least 513 tokens (512 in the prompt, at least 1 in the completion).'],
  [
    { promptLength: 600, isLeast: true, maxTokens: 20 },
    'at least 620 tokens (at least 600 in the prompt, 20 in the completion).',
  ],
])('counts the tokens of %j', (lengths, end) => {
  expect(promptTooLong({ contextLength: 512, ...lengths })).toMatchObject({
    code: 'prompt_too_long',
    message: `${BEGIN} ${end}`,
    parameter: 'prompt',
  });
});
