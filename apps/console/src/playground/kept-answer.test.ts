import { feedbackCreateRequest, trajectoryLogBody } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { EMPTY_ANSWER } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { toFeedback, toTrajectoryGroups } from './kept-answer.ts';

const answer = {
  ...EMPTY_ANSWER,
  model: 'demo',
  responseId: 'chatcmpl-1',
  finishReason: 'stop',
  tokens: [
    { id: 4, text: '4', logprob: -0.5, part: 'answer' as const, candidates: [{ text: '5', logprob: -2 }] },
  ],
};
const turns: readonly Turn[] = [
  { id: 'u', parentId: null, role: 'user', content: '2 + 2?' },
  { id: 'a', parentId: 'u', role: 'assistant', content: '4', answer },
];
const conversation = { system: 'Be short', turns };

it('is feedback that the api takes, about the answer, with its conversation', () => {
  const feedback = toFeedback(conversation, { project: 'acme/app', score: 1, note: '' });
  expect(feedbackCreateRequest.safeParse(feedback).error).toBe(undefined);
  expect(feedback).toMatchObject({
    weave_ref: 'weave:///acme/app/call/chatcmpl-1',
    payload: { score: 1, model: 'demo', messages: [{ role: 'system' }, { role: 'user' }, { content: '4' }] },
  });
  expect(feedback.payload).not.toHaveProperty('note');
});

it('is a trajectory that the api takes, whose answer can be trained on', () => {
  const trajectory_groups = toTrajectoryGroups(conversation, 0.5);
  expect(trajectoryLogBody.safeParse({ split: 'train', trajectory_groups }).error).toBe(undefined);
  expect(trajectory_groups[0]!.trajectories[0]).toMatchObject({
    reward: 0.5,
    messages_and_choices: [
      { role: 'system' },
      { role: 'user' },
      {
        message: { role: 'assistant', content: '4' },
        logprobs: { content: [{ token: '4', logprob: -0.5 }] },
      },
    ],
  });
});

it('keeps the calls of tools and their results in a trajectory', () => {
  const toolCalls = [{ id: 'call-1', name: 'add', arguments: '{"a":2}' }];
  const called: Turn = {
    id: 'c',
    parentId: 'u',
    role: 'assistant',
    content: '',
    answer: { ...EMPTY_ANSWER, phase: 'done', toolCalls, finishReason: 'tool_calls' },
  };
  const result: Turn = { id: 't', parentId: 'c', role: 'tool', content: '4', toolCallId: 'call-1' };
  const messagesOf = (kept: readonly Turn[]) =>
    toTrajectoryGroups({ system: '', turns: kept }, 1)[0]!.trajectories[0]!.messages_and_choices;
  const call = { role: 'assistant', content: null, tool_calls: [{ id: 'call-1' }] };
  expect(messagesOf([turns[0]!, called])[1]).toMatchObject({ message: call, finish_reason: 'tool_calls' });
  expect(messagesOf([turns[0]!, called, result, turns[1]!]).slice(1, 3)).toMatchObject([
    call,
    { role: 'tool', content: '4', tool_call_id: 'call-1' },
  ]);
});

it.each([
  ['stopped', 'abort'],
  ['failed', 'error'],
  ['done', 'stop'],
] as const)('says of an answer without a finish reason that %s why it ended: %s', (phase, reason) => {
  const cut: Turn = { ...turns[1]!, answer: { ...answer, phase, finishReason: null } };
  const [group] = toTrajectoryGroups({ system: '', turns: [turns[0]!, cut] }, 1);
  expect(group!.trajectories[0]!.messages_and_choices[1]).toMatchObject({ finish_reason: reason });
});
