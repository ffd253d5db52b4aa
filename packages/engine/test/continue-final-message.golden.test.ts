// Holds prompts with an open last message to what transformers makes of them.

import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../src/request/chat-message.ts';
import { ChatTemplates } from '../src/text/chat-template.ts';
import { cutAtMark } from '../src/text/continue-final-message.ts';
import { renderTemplate } from '../src/text/render-template.ts';
import { readGolden } from './golden-file.ts';

interface ContinueGolden {
  readonly special: Record<string, string>;
  readonly templates: Record<string, string>;
  readonly cases: readonly {
    readonly template: string;
    readonly messages: readonly ChatMessage[];
    readonly prompt: string | null;
  }[];
}

const golden = readGolden<ContinueGolden>('continue-final-message.json', ['jinja2', 'transformers']);

function render(template: string, messages: readonly ChatMessage[]): string {
  const templates = new ChatTemplates(golden.special, new Map([['default', template]]));
  const call = templates.prepare(messages, {
    addGenerationPrompt: false,
    continueFinalMessage: true,
    variables: { date_string: golden.special.date_string },
  });
  return cutAtMark(renderTemplate(call.source, call.variables, new Date(0)), call.openText!);
}

describe.each(Object.keys(golden.templates))('the template "%s"', name => {
  const cases = golden.cases.filter(({ template }) => template === name);
  test.each(cases)('leaves $messages open as the original does', ({ messages, prompt }) => {
    if (prompt === null) {
      expect(() => render(golden.templates[name]!, messages)).toThrow(
        expect.objectContaining({ code: 'template_failed' }),
      );
    } else {
      expect(render(golden.templates[name]!, messages)).toBe(prompt);
    }
  });
});

test('an open last message excludes a generation prompt', () => {
  const templates = new ChatTemplates({}, new Map([['default', 'x']]));
  for (const options of [{}, { addGenerationPrompt: true }]) {
    expect(() =>
      templates.prepare([{ role: 'user', content: 'a' }], { ...options, continueFinalMessage: true }),
    ).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        parameter: 'prompt.template.continueFinalMessage',
      }),
    );
  }
});
