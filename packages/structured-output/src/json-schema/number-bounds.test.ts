// Bounds of 64 bits and beyond, which llguidance does not compile.

import { expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

const INT64 = '"minimum":-9223372036854775808,"maximum":9223372036854775807';
const FLOAT32 = '"minimum":-3.4028234663852886e38,"maximum":3.4028234663852886e38';

it.each([
  [`{"type":"integer",${INT64}}`, ['0', '-9223372036854770000', '9223372036854770000'], ['1.5']],
  ['{"type":"integer","minimum":0,"maximum":18446744073709551615}', ['9223372036854770000'], ['-1']],
  [`{"type":"number",${FLOAT32}}`, ['0', '-1.5', '1000000'], ['"1"']],
  ['{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1e300}', ['0.5'], ['0', '-1']],
  [`{"type":["integer","null"],${INT64}}`, ['7', 'null'], ['"7"']],
])('%s is enforced', (schema, right, wrong) => {
  const prepared = prepare({ jsonSchema: schema, strict: true });
  expect(right.filter(text => !allows(prepared, text))).toEqual([]);
  expect(wrong.filter(text => allows(prepared, text))).toEqual([]);
});
