// The README is correct: its grammar table is generated, its limits are those of the code.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GRAMMAR } from '../src/parse/grammar.ts';
import { grammarJsonSchema, grammarMarkdown } from '../src/parse/grammar-docs.ts';
import { DEFAULT_QUERY_LIMITS } from '../src/parse/limits.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** Tables without the spaces that line their columns up. */
function withPlainTables(markdown: string): string {
  const plain = (cell: string) => cell.trim().replace(/^-+$/, '---');
  return markdown.replace(/^\|.*\|$/gm, row => row.slice(1, -1).split('|').map(plain).join('|'));
}

describe('README', () => {
  it('shows the generated grammar table', () => {
    expect(withPlainTables(README)).toContain(withPlainTables(grammarMarkdown()));
  });

  it('names every limit with its value', () => {
    for (const [name, value] of Object.entries(DEFAULT_QUERY_LIMITS)) {
      expect(withPlainTables(README)).toContain(`\n\`${name}\`|${value}\n`);
    }
  });
});

describe('grammarJsonSchema', () => {
  const schema = grammarJsonSchema() as { readonly $defs: Readonly<Record<string, unknown>> };
  const { $defs } = schema;

  it('has a definition for every operator and no reference that leads nowhere', () => {
    for (const rule of GRAMMAR) expect($defs).toHaveProperty(rule.name.slice(1));
    const references = [...JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)].map(match => match[1]!);
    for (const name of references) expect($defs).toHaveProperty(name);
  });

  it('lets only conditions stand at the top', () => {
    const names = JSON.stringify($defs.operation);
    for (const rule of GRAMMAR)
      expect(names.includes(`/${rule.name.slice(1)}"`)).toBe(rule.result === 'condition');
  });
});
