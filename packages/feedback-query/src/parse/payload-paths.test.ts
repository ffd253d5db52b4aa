// Discovery of payload paths: the vectors, and random payloads against a plain recursive oracle.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discoverPayloadPaths } from './payload-paths.ts';

const discover = (...payloads: readonly unknown[]) =>
  discoverPayloadPaths(payloads.map(payload => JSON.stringify(payload))).map(
    path => `${path.json_path}:${path.value_type}`,
  );

describe('discoverPayloadPaths', () => {
  const cases: readonly (readonly [string, readonly unknown[], readonly string[]])[] = [
    ['P1', [{ output: { score: 0.9 } }], ['output.score:numeric']],
    ['P2', [{ passed: true }], ['passed:boolean']],
    ['P3', [{ score: 1 }, { score: 0.5, label: 'good' }], ['label:categorical', 'score:numeric']],
    ['P4', [{ items: [1, 2, 3] }], ['items:numeric']],
    ['P5', [{ items: [{ a: 1 }] }], []],
    ['P6', [{ items: [[1]] }], []],
    ['P7', [{ items: [1, 'x'] }], ['items:categorical']],
    ['P8', [{ items: [] }, { o: {} }, {}], []],
    ['P9', [{ x: null }], ['x:boolean']],
    ['P10', [{ x: null }, { x: 1 }], ['x:numeric']],
    ['P11', [{ x: null }, { x: 's' }], ['x:categorical']],
    ['P12', [{ x: true }, { x: 1 }], ['x:categorical']],
    ['P13', [{ x: 1 }, { x: '1' }], ['x:categorical']],
    ['P14', [{ 'a.b': 1, c: 2 }], ['c:numeric']],
    ['P15', [{ 'Low quality': { confidence: 0.9 } }], ['Low quality.confidence:numeric']],
    ['P16', [{ 'a-b': 1, é: 2, "it's": 3, 'a-c': { d: 1 } }], []],
    ['P17', [{ z: 1, a: 2, M: 3 }], ['M:numeric', 'a:numeric', 'z:numeric']],
    ['P18', [{ a: 1 }, { a: { b: 2 } }], ['a:numeric', 'a.b:numeric']],
    ['P19', [{ a: [{ b: 1 }, 5] }], ['a:numeric']],
    ['P20', [{ x: [true, false] }], ['x:boolean']],
    ['P20', [{ x: [null] }], ['x:boolean']],
  ];
  it.each(cases)('%s: %j gives %j', (_, payloads, expected) => {
    expect(discover(...payloads)).toEqual(expected);
  });

  it('passes over texts that are not JSON objects', () => {
    expect(discoverPayloadPaths(['', ' ', '{', '[1]', '1', 'null'])).toEqual([]);
  });

  it('gives no path a query could not name, however deep the payload', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(discoverPayloadPaths([nested(32)])).toHaveLength(1);
    expect(discoverPayloadPaths([nested(33), nested(5_000)])).toEqual([]);
    expect(discoverPayloadPaths([JSON.stringify({ ['k'.repeat(2_000)]: 1 })])).toEqual([]);
  });

  it('agrees with a plain recursive walk on any payloads', () => {
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom('', 'x', '1')),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'B', 'c d', 'x.y', 'é', ' ', '0', 'a-b'), tie('value'), {
          maxKeys: 3,
        }),
      ),
    }));
    const payload = fc.dictionary(fc.constantFrom('a', 'b', ''), value);
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 4 }), payloads => {
        expect(discover(...payloads)).toEqual(bruteForce(payloads));
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Every leaf with its full path, lists spelled `[n]`; then the rules, one filter each. */
function bruteForce(payloads: readonly unknown[]): readonly string[] {
  const leaves: { readonly path: readonly string[]; readonly type: string }[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (Array.isArray(node)) {
      for (const item of node) walk(item, typeof item === 'object' && item !== null ? [...path, '[]'] : path);
    } else if (typeof node === 'object' && node !== null) {
      for (const [key, item] of Object.entries(node)) walk(item, [...path, key]);
    } else {
      leaves.push({ path, type: node === null ? 'null' : typeof node });
    }
  };
  for (const payload of payloads) walk(payload, []);
  const kept = leaves.filter(({ path }) =>
    path.every(key => /^[A-Za-z0-9_ ]+$/.test(key) && key.trim() !== ''),
  );
  const names = [...new Set(kept.map(({ path }) => path.join('.')))].sort();
  return names.map(name => {
    const types = new Set(kept.filter(({ path }) => path.join('.') === name).map(({ type }) => type));
    types.delete('null');
    const [only = 'boolean'] = types;
    const kind =
      types.size > 1 || only === 'string' ? 'categorical' : only === 'number' ? 'numeric' : 'boolean';
    return `${name}:${kind}`;
  });
}
