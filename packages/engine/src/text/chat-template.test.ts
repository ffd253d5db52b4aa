import { expect, it, vi } from 'vitest';
import { ChatTemplates } from './chat-template.ts';

it('searches a long template once, not once for every message', () => {
  const templates = new ChatTemplates({ config: {}, chatTemplateFile: '{{ messages }}' });
  const messages = Array.from({ length: 1_000 }, () => ({ role: 'developer', content: 'a' }));
  const test = vi.spyOn(RegExp.prototype, 'test');
  const includes = vi.spyOn(String.prototype, 'includes');
  try {
    const { variables } = templates.prepare(messages);
    expect(variables.messages).toHaveLength(1_000);
    expect(test.mock.calls.length + includes.mock.calls.length).toBeLessThan(10);
  } finally {
    test.mockRestore();
    includes.mockRestore();
  }
});
