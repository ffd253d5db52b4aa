import { expect, it } from 'vitest';
import { type Answer, EMPTY_ANSWER } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { toMessages } from './requests.ts';

const rolesAfter = (answer: Partial<Answer>) => {
  const content = answer.content ?? '';
  const turns: readonly Turn[] = [
    { id: 'u', parentId: null, role: 'user', content: 'Hello?' },
    { id: 'a', parentId: 'u', role: 'assistant', content, answer: { ...EMPTY_ANSWER, ...answer } },
    { id: 'v', parentId: 'a', role: 'user', content: 'Hello!' },
  ];
  return toMessages(turns).map(({ role }) => role);
};

it.each(['failed', 'stopped'] as const)('sends no answer that %s before its first text', phase => {
  expect(rolesAfter({ phase })).toEqual(['user', 'user']);
});

it.each<Partial<Answer>>([
  { phase: 'failed', content: 'Hel' },
  { phase: 'stopped', reasoning: 'Hm' },
  { phase: 'failed', toolCalls: [{ id: '1', name: 'f', arguments: '{' }] },
  { phase: 'done' },
])('sends what the model said: %j', answer => {
  expect(rolesAfter(answer)).toEqual(['user', 'assistant', 'user']);
});
