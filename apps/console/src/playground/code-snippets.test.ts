import { execFileSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type SnippetName, toSnippet } from './code-snippets.ts';

const REQUEST = {
  serverUrl: 'http://127.0.0.1:8000/llm',
  body: {
    model: 'demo',
    messages: [{ role: 'user', content: `It's "quoted" $HOME \`id\` \\ and\nmore */ $\{x}` }],
    temperature: 0.5,
    seed: 9007199254740993n,
    min_p: 0.1,
    max_completion_tokens: 7,
    stream: true,
    stream_options: { include_usage: true },
    logprobs: true,
    top_logprobs: 5,
    return_token_ids: true,
  },
};

describe('code of a request', () => {
  it('is a curl whose shell sends exactly the body, without the fields of the view', () => {
    const script = toSnippet('curl', REQUEST).replace(/^curl/, 'show');
    const shown = 'show() { for each in "$@"; do printf "%s\\0" "$each"; done; };';
    const output = execFileSync('sh', ['-c', `${shown} ${script}`], {
      env: { ORTLER_API_KEY: 'k' },
      encoding: 'utf8',
    });
    const words = output.split('\0');
    expect(words.slice(0, 3)).toEqual([
      'http://127.0.0.1:8000/llm/v1/chat/completions',
      '-H',
      'Authorization: Bearer k',
    ]);
    const body = words[6]!;
    expect(body).toContain('"seed": 9007199254740993');
    const { messages, model, temperature, min_p, max_completion_tokens } = REQUEST.body;
    expect(JSON.parse(body)).toEqual({
      model,
      messages,
      temperature,
      seed: expect.any(Number),
      min_p,
      max_completion_tokens,
    });
  });

  it.each<SnippetName>(['openai', 'AI SDK', 'ortler'])(
    'is a program for %s that has no syntax error',
    name => {
      const code = toSnippet(name, REQUEST);
      expect(() => stripTypeScriptTypes(code)).not.toThrow();
      expect(code).not.toContain('top_logprobs');
    },
  );

  it('uses the names that the AI SDK and ortler have for parameters', () => {
    expect(toSnippet('AI SDK', REQUEST)).toMatch(
      /maxOutputTokens: 7,[\s\S]*providerOptions: \{ ortler: \{\s*"min_p": 0\.1/,
    );
    expect(toSnippet('ortler', REQUEST)).toContain(
      '{ temperature: 0.5, minP: 0.1, maxTokens: 7, seed: 9007199254740993n }',
    );
  });

  it('names what the package ortler has no option for', () => {
    const body = { ...REQUEST.body, logit_bias: { 5: 1 } };
    expect(toSnippet('ortler', { ...REQUEST, body })).toContain('have other names here: logit_bias.');
  });
});
