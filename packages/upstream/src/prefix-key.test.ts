import { expect, it } from 'vitest';
import { prefixKey } from './prefix-key.ts';

const system = { role: 'system', content: 'Be brief.' };
const first = { role: 'user', content: 'Hi' };

it('is the same for all turns of a conversation, and differs with its beginning', () => {
  const key = prefixKey({ messages: [system, first] });
  const later = [system, first, { role: 'assistant', content: 'Hello' }, { role: 'user', content: 'More' }];
  expect(prefixKey({ messages: later })).toBe(key);
  expect(prefixKey({ messages: [system, { role: 'user', content: 'Hey' }] })).not.toBe(key);
});

it('is the beginning of a prompt, of text or of token ids', () => {
  expect(prefixKey({ prompt: `${'x'.repeat(2_000)}a` })).toBe(prefixKey({ prompt: `${'x'.repeat(2_000)}b` }));
  expect(prefixKey({ prompt: [1, 2] })).not.toBe(prefixKey({ prompt: [1, 3] }));
});

it.each([[{}], [{ messages: [] }], [{ prompt: '' }]])('is null without a beginning: %j', body => {
  expect(prefixKey(body)).toBeNull();
});
