// The README is correct: its examples are files that run here, its grammar table is generated.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GRAMMAR } from '../src/parse/grammar.ts';
import { grammarJsonSchema, grammarMarkdown } from '../src/parse/grammar-docs.ts';
import { DEFAULT_QUERY_LIMITS } from '../src/parse/limits.ts';
import { result as explained } from './examples/explain.ts';
import { result as found } from './examples/query-sqlite.ts';
import { result as refused } from './examples/refuse.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const README = read('../README.md');

/** Tables without the spaces that line their columns up. */
function withPlainTables(markdown: string): string {
  const plain = (cell: string) => cell.trim().replace(/^-+$/, '---');
  return markdown.replace(/^\|.*\|$/gm, row => row.slice(1, -1).split('|').map(plain).join('|'));
}

describe('README', () => {
  it.each(['query-sqlite', 'refuse', 'explain'])('shows the example %s as it runs', name => {
    expect(README).toContain(`\`\`\`ts\n${read(`./examples/${name}.ts`)}\`\`\``);
  });

  it('has examples that give what their comments say', () => {
    expect(found).toEqual([
      { id: 'f1', 'payload.score': 0.9 },
      { id: 'f2', 'payload.score': '0.7' },
    ]);
    expect(refused).toEqual([
      { code: 'unknown_field', fault: 'unanswerable', path: 'query.$expr.$eq.0.$getField' },
      { code: 'missing', fault: 'malformed', path: 'query.$expr.$eq.1' },
    ]);
    expect(explained).toBe(
      'select count(*) as "c0" from "feedback" as "f" where f.project_id = $1::text AND ' +
        '(NOT coalesce((f.creator = $2::text), false)) limit $3::bigint offset $4::bigint',
    );
  });

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
