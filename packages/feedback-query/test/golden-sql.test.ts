// The SQL of every kind of condition equals the golden file, and parameters match their placeholders.
import { describe, expect, it } from 'vitest';
import golden from './golden/compiled-sql.json' with { type: 'json' };
import { compileGoldenSql } from './golden-sql.ts';

const PLACES = { sqlite: /\?/g, postgres: /\$\d+/g, clickhouse: /\{p\d+:\w+\}/g } as const;

describe('compiled SQL', () => {
  it('has a golden file that says where it comes from', () => {
    expect(golden.provenance.script).toBe('test/make-golden-sql.ts');
    expect(golden.provenance.versions.kysely).toMatch(/^\d+\.\d+/);
  });

  const compiled = compileGoldenSql();
  for (const name of ['sqlite', 'postgres', 'clickhouse'] as const) {
    it.each(Object.keys(golden.dialects[name]))(`is unchanged on ${name} for %s`, query => {
      const expected: Readonly<Record<string, unknown>> = golden.dialects[name];
      expect(compiled[name]![query]).toEqual(expected[query]);
    });

    it(`has a place for every parameter on ${name}`, () => {
      for (const { sql, parameters } of Object.values(compiled[name]!)) {
        expect(sql.match(PLACES[name]) ?? []).toHaveLength(parameters.length);
      }
    });
  }

  it('covers every query', () => {
    expect(Object.keys(compiled.clickhouse!)).toEqual(Object.keys(golden.dialects.clickhouse));
  });
});
