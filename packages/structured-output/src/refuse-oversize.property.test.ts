import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConstraintSpec } from './constraint-spec.ts';
import { refuseOversize } from './refuse-oversize.ts';

const isRefused = (spec: ConstraintSpec, limit: number): boolean => {
  try {
    refuseOversize(spec, limit);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_constraint' });
    return true;
  }
};

describe('the early look at the size of a constraint', () => {
  it('refuses nothing that fits when it is written as text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), schema => {
        const size = Buffer.byteLength(JSON.stringify(schema));
        expect(isRefused({ jsonSchema: schema }, size)).toBe(false);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), choices => {
        expect(isRefused({ choice: choices }, Buffer.byteLength(choices.join('\n')) + 1)).toBe(false);
      }),
    );
  });

  it('refuses what is far too large, and looks at little of it', () => {
    const touched: number[] = [];
    const list = Array.from({ length: 1_000 }, (_, i) => ({
      get value() {
        touched.push(i);
        return 'x'.repeat(100);
      },
    }));
    expect(isRefused({ jsonSchema: list }, 3_000)).toBe(true);
    expect(touched.length).toBeLessThan(40);
    expect(isRefused({ regex: 'x'.repeat(101) }, 100)).toBe(true);
    expect(isRefused({ regex: 'x'.repeat(100) }, 100)).toBe(false);
    expect(isRefused({ jsonSchema: new Array(10_000).fill(1) }, 5_000)).toBe(true);
  });
});
