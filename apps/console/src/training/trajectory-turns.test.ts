import { expect, it } from 'vitest';
import { toHistories } from './trajectory-turns.ts';

it('shows messages, choices with their tokens, and tool calls', () => {
  const [main, other] = toHistories({
    messages_and_choices: [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'image_url' }] },
      {
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ function: { name: 'sum', arguments: '{"a":1}' } }],
        },
        logprobs: { content: [{ token: '4', logprob: -0.1 }, { token: 5 }] },
      },
    ],
    additional_histories: [{ messages_and_choices: [{ role: 'system', content: 'Be short' }] }],
  });
  expect(main!.turns).toMatchObject([
    { role: 'user', content: 'Hi\n{"type":"image_url"}', isChoice: false },
    {
      role: 'assistant',
      content: '',
      isChoice: true,
      toolCalls: [{ name: 'sum', arguments: '{"a":1}' }],
      tokens: [{ text: '4', logprob: -0.1 }],
    },
  ]);
  expect(other).toMatchObject({ title: 'Additional history 1', turns: [{ role: 'system' }] });
});

it.each([null, 5, {}, { messages_and_choices: 'x' }, { messages_and_choices: [null, [], 3] }])(
  'takes %j without a fault',
  trajectory => {
    expect(toHistories(trajectory)[0]!.title).toBe('Conversation');
  },
);
