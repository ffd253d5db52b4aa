import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseNatively } from './escaped-names.ts';
import { parseJson, parseLosslessJson, parseLosslessJsonInSlices } from './lossless-json.ts';

function parseInSlices(text: string): unknown {
  const reading = parseLosslessJsonInSlices(text, { sliceLength: 8 });
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

const PARSERS = { parseNatively, parseLosslessJson, parseJson, parseInSlices };

it.each(Object.entries(PARSERS))('%s reads escaped names after names with a backslash', (first, parse) => {
  for (const [stored, text, expected] of [
    ['\\\\', '\\u00e9', 'é'],
    ['\\\\', '\\n', '\n'],
    ['\\\\', '\\"', '"'],
    ['\\\\', '\\ud83d\\udc4d', '👍'],
    ['x\\\\', 'x\\u00e9', 'xé'],
  ]) {
    parse(`{"${first}":1,"${stored}":2}`);
    const parsed = parse(`{"${first}":1,"${text}":2,"z":{"${first}":1,"${text}":[3]}}`);
    expect(parsed).toEqual({ [first]: 1, [expected!]: 2, z: { [first]: 1, [expected!]: [3] } });
  }
});

it('reads what the plain parser reads, names in their order', () => {
  const name = fc.oneof(
    fc.constantFrom('a', '\\', '\n', '"', 'é', '1', '__proto__', 'a\\', '\\u0061', ':', '\\":'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const { value: anyValue } = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(1, 'a', '\\', '"\\', null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(entries => Object.fromEntries(entries)),
    ),
  }));
  const toAscii = (text: string) =>
    text.replaceAll(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  fc.assert(
    fc.property(anyValue, fc.boolean(), (value, isEscaped) => {
      const text = isEscaped ? toAscii(JSON.stringify(value)) : JSON.stringify(value, null, 1);
      expect(JSON.stringify(parseNatively(text))).toBe(JSON.stringify(value));
    }),
  );
});

it.each([
  [
    '{"\\u00e9":1,"b":2,"é":3,"\\u00E9":4}',
    [
      ['é', 4],
      ['b', 2],
    ],
  ],
  [
    '{"\\u00e9":1,"b":2,"é":3}',
    [
      ['é', 3],
      ['b', 2],
    ],
  ],
  [
    '{"\\n":1,"b":2,"\\u000a":3}',
    [
      ['\n', 3],
      ['b', 2],
    ],
  ],
])('keeps the last of two equal names, at the place of the first: %s', (text, entries) => {
  expect(Object.entries(parseNatively(text) as object)).toEqual(entries);
});

it.each(['{"\\x":1}', '{"\\n":1', '["\\n":1]', '{"\\n" 1}', '"\\n":1', '{"\\u12":1}', '{"a\n\\n":1}'])(
  'refuses %j',
  text => expect(() => parseNatively(text)).toThrow(SyntaxError),
);
