import { describe, expect, it, vi } from 'vitest';
import { ChatTemplates } from './chat-template.ts';

it('searches a long template once, not once for every message', () => {
  const templates = new ChatTemplates({}, new Map([['default', '{{ messages }}']]));
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

describe('a template that cannot be parsed', () => {
  const broken = '{{ messages }}\n{% if %}';

  it('is a fault of the model with its line, once for each', () => {
    const templates = new ChatTemplates(
      {},
      new Map([
        ['default', broken],
        ['rag', '{{ documents }}'],
        ['tool_use', '{% for %}'],
      ]),
    );
    expect(templates.findFaults()).toMatch(
      /^The chat template cannot be parsed at line 2: .+[^.]\. The chat template "tool_use" cannot be parsed at line 1: .+[^.]\.$/,
    );
    expect(new ChatTemplates({}, new Map([['default', 'a']])).findFaults()).toBeUndefined();
    expect(new ChatTemplates({}, new Map()).findFaults()).toBeUndefined();
  });

  it('is one too where the text is too long', () => {
    const templates = new ChatTemplates({}, new Map([['default', 'a'.repeat(300_000)]]));
    expect(templates.findFaults()).toBe('The chat template is longer than 262144 characters.');
  });

  it('is refused where it was given when the model was loaded', () => {
    expect(() => new ChatTemplates({}, new Map(), broken)).toThrow(
      expect.objectContaining({
        code: 'model_invalid',
        parameter: 'chatTemplate',
        message: expect.stringContaining('The chat template given at load cannot be parsed at line 2'),
      }),
    );
  });
});

describe('named templates', () => {
  const named = new Map([
    ['default', 'plain'],
    ['rag', 'with documents'],
  ]);
  const chat = [{ role: 'user', content: 'a' }];

  it('are chosen by name, and count as the model’s own', () => {
    const templates = new ChatTemplates({}, named);
    expect(templates.prepare(chat, { template: 'rag' })).toMatchObject({
      source: 'with documents',
      isForeign: false,
    });
    expect(templates.prepare(chat, { template: 'other' })).toMatchObject({
      source: 'other',
      isForeign: true,
    });
  });

  it('can become the default when the model is loaded; a source replaces them all', () => {
    const renamed = new ChatTemplates({}, named, 'rag');
    expect(renamed.prepare(chat).source).toBe('with documents');
    expect(renamed.prepare(chat, { template: 'default' }).source).toBe('plain');
    const replaced = new ChatTemplates({}, named, 'own');
    expect(replaced.prepare(chat, { template: 'rag' })).toMatchObject({ source: 'rag', isForeign: true });
  });

  it('need a choice where none of them is the default', () => {
    const templates = new ChatTemplates({}, new Map([...named].slice(1)));
    expect(templates.source).toBeNull();
    expect(() => templates.prepare(chat)).toThrow('give the name of one with the request (rag).');
  });
});
