// Discovery against brute force: every way from the root of every payload to a scalar, then the rules, one by one.
import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, it } from 'vitest';
import { discoverPayloadPaths, type PayloadPath } from './payload-paths.ts';

type Step = { readonly key: string } | { readonly index: number };

const anyKey = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'a b', 'A_1', '0') },
  fc.constantFrom('', ' ', 'a.b', 'a-b', 'é', "it's", '__proto__', 'constructor', 'toString', 'x\ny'),
);
const { json: anyJson } = fc.letrec<{ json: unknown }>(tie => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(
      fc.boolean(),
      fc.constant(null),
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.constantFrom('', 's', '5'),
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(anyKey, tie('json')), { maxLength: 3 }).map(toObject),
  ),
}));
const anyPayload = fc.array(fc.tuple(anyKey, anyJson), { maxLength: 4 }).map(toObject);

function toObject(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}

/** All ways to a value that is not a container. */
function* ways(value: unknown, way: readonly Step[]): Generator<{ way: readonly Step[]; leaf: unknown }> {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) yield* ways(value[index], [...way, { index }]);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value))
      yield* ways((value as Record<string, unknown>)[key], [...way, { key }]);
  } else yield { way, leaf: value };
}

function bruteForce(payloads: readonly string[]): readonly PayloadPath[] {
  const leaves = new Map<string, unknown[]>();
  for (const payload of payloads)
    for (const { way, leaf } of ways(JSON.parse(payload), [])) {
      // A list is a leaf only as the last step, at its own path.
      const isList = 'index' in way.at(-1)!;
      const keys = isList ? way.slice(0, -1) : way;
      if (keys.some(step => 'index' in step)) continue;
      const names = keys.map(step => (step as { key: string }).key);
      if (names.some(name => name.trim() === '' || name.includes('.'))) continue;
      const path = names.join('.');
      if (!/^[A-Za-z0-9_. ]*$/.test(path)) continue;
      leaves.set(path, [...(leaves.get(path) ?? []), leaf]);
    }
  const all = (values: readonly unknown[], types: readonly string[]) =>
    values.every(value => value === null || types.includes(typeof value));
  return [...leaves]
    .map(([json_path, values]) => ({
      json_path,
      value_type: all(values, ['boolean'])
        ? ('boolean' as const)
        : all(values, ['number'])
          ? ('numeric' as const)
          : ('categorical' as const),
    }))
    .sort((left, right) => Buffer.compare(Buffer.from(left.json_path), Buffer.from(right.json_path)));
}

it('finds what brute force finds, in payloads of any shape', () => {
  fc.assert(
    fc.property(fc.array(anyPayload, { maxLength: 5 }), payloads => {
      const texts = payloads.map(payload => JSON.stringify(payload));
      expect(discoverPayloadPaths(texts)).toEqual(bruteForce(texts));
    }),
    { numRuns: runs({ daily: 400, full: 2_000 }) },
  );
});
