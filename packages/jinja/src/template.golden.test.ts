// Holds the template interpreter to what Python jinja2 renders in the environment of `transformers`.

import { describe, expect, test } from 'vitest';
import { readGolden } from '../test/read-golden.ts';
import { Template } from './template.ts';
import { TemplateError } from './template-error.ts';

interface Rendered {
  readonly template: string;
  readonly text?: string;
  readonly error?: string;
}

interface TemplateGolden {
  readonly special: Record<string, string>;
  readonly templates: Record<string, string>;
  readonly conversations: Record<string, Record<string, unknown>>;
  readonly cases: readonly (Rendered & { readonly conversation: string })[];
  readonly values: Record<string, unknown>;
  readonly snippets: readonly Rendered[];
}

const golden = readGolden<TemplateGolden>('chat-templates.json', ['jinja2', 'transformers', 'now']);
const now = new Date(golden.provenance.now as string);

/** Snippets whose features are refused here, each with a message that says so; the original renders them. */
const REFUSED: readonly RegExp[] = [
  /groupby/,
  /\| e \}\}/,
  /\.items \}\}/,
  /zfill/,
  /istitle/,
  /\{% block/,
  /\.real/,
  /list\.append \}\}/,
  /\bself\b/,
  /%q/,
  /\\N\{BULLET\}/,
  / recursive /,
  /lipsum/,
];

function render(template: string, variables: Record<string, unknown>): { text?: string; error?: string } {
  try {
    return { text: new Template(template).render(variables, now) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { error: error.line === undefined ? error.message : `line ${error.line}: ${error.message}` };
  }
}

describe.each(Object.keys(golden.templates))('%s', name => {
  const cases = golden.cases.filter(each => each.template === name);
  test.each(cases)('renders "$conversation" as the original does', ({ conversation, text, error }) => {
    const given = { ...golden.special, add_generation_prompt: true, ...golden.conversations[conversation] };
    const rendered = render(golden.templates[name]!, given);
    expect(rendered.text).toBe(text);
    if (error !== undefined) expect(rendered.error).toBeDefined();
    // What a template itself raises reaches the caller word for word.
    if (error !== undefined && golden.templates[name]!.includes(error))
      expect(rendered.error).toContain(error);
  });
});

describe('one line', () => {
  test.each(golden.snippets)('$template', ({ template, text }) => {
    const rendered = render(template, golden.values);
    if (text !== undefined && REFUSED.some(pattern => pattern.test(template))) {
      expect(rendered.error).toBeDefined();
    } else {
      expect(rendered.text).toBe(text);
    }
  });

  test('names the line of a failure', () => {
    expect(render('a\nb\n{{ x.y }}', {}).error).toContain("line 3: 'x' is undefined");
    expect(render('{{ 1 }}\n{% if %}', {}).error).toContain('line 2');
    expect(render('{{ 1 }}\n\n{{ raise_exception("no " ~ 1) }}', {}).error).toContain('line 3: no 1');
  });
});

describe('random templates', () => {
  const random = readGolden<{ values: Record<string, unknown>; cases: readonly [string, string | null][] }>(
    'chat-template-random.json',
    ['jinja2', 'transformers'],
  );

  test('give the text of the original or are refused, and hardly any is refused', () => {
    let refusedCount = 0;
    for (const [template, text] of random.cases) {
      const rendered = render(template, random.values);
      if (text !== null && rendered.error !== undefined) refusedCount++;
      else expect([template, rendered.text ?? null]).toEqual([template, text]);
    }
    expect(random.cases.length).toBeGreaterThan(1500);
    expect(refusedCount).toBeLessThan(random.cases.length / 50);
  });
});
