import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { renderTemplate } from './render-template.ts';

const BIG = 2n ** 63n - 1n;

function render(source: string): string {
  return renderTemplate(source, { big: BIG, small: 5n, bounds: { maximum: BIG, ids: [BIG] } }, new Date(0));
}

// As Python prints them: tool schemas and ids often hold integers that a JavaScript number cannot.
describe('integers beyond ±(2^53 - 1)', () => {
  it.each([
    ['{{ big }}', '9223372036854775807'],
    ['{{ bounds }}', "{'maximum': 9223372036854775807, 'ids': [9223372036854775807]}"],
    ['{{ bounds | tojson }}', '{"maximum": 9223372036854775807, "ids": [9223372036854775807]}'],
    ['{{ {big: 1} | tojson }}', '{"9223372036854775807": 1}'],
    ['{{ big is integer }} {{ big is number }} {{ big is string }}', 'True True False'],
    ['{{ big == bounds.maximum }} {{ big == 5 }} {{ 5 == big }}', 'True False False'],
    ['{{ big > 5 }} {{ 5.5 < big }} {{ big <= big }}', 'True True True'],
    ['{{ "yes" if big else "no" }}', 'yes'],
    ['{{ small + 1 }}', '6'],
  ])('%s', (source, text) => {
    expect(render(source)).toBe(text);
  });

  it.each(['{{ big + 1 }}', '{{ -big }}', '{{ big * 2 }}', '{{ big | float }}', '{{ "a" * big }}'])(
    '%s is refused, because the result would be rounded',
    source => {
      expect(() => render(source)).toThrow(EngineError);
      expect(() => render(source)).toThrow(/9223372036854775807 is too large to calculate with/);
    },
  );
});
