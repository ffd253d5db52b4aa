// Random constraints as the wire has them, each with an independent judge of finished answers. Schemas are judged by
// ajv, regular expressions by the language's own, grammars by recognisers written for them alone.

import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';

export interface RandomConstraint {
  /** Fields of a chat request. */
  readonly fields: object;
  readonly isValid: (text: string) => boolean;
  /** Whether the text may be the beginning of a valid one, where that is simple to say. */
  readonly isBeginning: (text: string) => boolean;
}

const ajv = new Ajv2020({ strict: false, validateFormats: true, ownProperties: true });
formats.default(ajv);

const names = fc.constantFrom('a', 'b', 'name', 'é', 'x y');
const leaves = fc.constantFrom<object>(
  { type: 'boolean' },
  { type: ['null', 'integer'], minimum: -5, maximum: 120 },
  { type: 'number', minimum: 0, exclusiveMaximum: 2.5 },
  { enum: ['x', 2, null, [3]] },
  { const: { k: [1, 'é"'] } },
  { type: 'string', minLength: 1, maxLength: 4 },
  { type: 'string', pattern: '^[a-z]{1,3}-\\d$' },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'ipv4' },
);
const schemas = fc.letrec<{ schema: object }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    leaves,
    fc
      .tuple(tie('schema'), fc.nat(2))
      .map(([items, least]) => ({ type: 'array', items, minItems: least, maxItems: least + 1 })),
    fc
      .dictionary(names, tie('schema'), { minKeys: 1, maxKeys: 3, noNullPrototype: true })
      .map(properties => ({
        type: 'object',
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      })),
    fc.tuple(tie('schema'), tie('schema')).map(anyOf => ({ anyOf })),
  ),
})).schema;

const ofSchema = schemas.map((schema): RandomConstraint => {
  const validate = ajv.compile(schema);
  return {
    fields: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
    isValid: text => validate(JSON.parse(text)),
    // A whole value followed by nothing, or a value that is cut: `JSON.parse` complains of its end only.
    isBeginning: isCutJson,
  };
});

const PATTERNS = [
  '[a-f]{2}\\d?',
  '(?:ab|a)*c',
  '\\w+@\\w+\\.(?:org|net)',
  '-?\\d+(?:\\.\\d{1,2})?',
  'é[à-ÿ]*!',
];
const ofPattern = fc.constantFrom(...PATTERNS).map(
  (regex): RandomConstraint => ({
    fields: { structured_outputs: { regex } },
    isValid: text => new RegExp(`^(?:${regex})$`, 'u').test(text),
    isBeginning: () => true,
  }),
);

const ofChoice = fc
  .uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .filter(texts => texts.every(text => text.isWellFormed() && !text.includes('\0')))
  .map(
    (choice): RandomConstraint => ({
      fields: { structured_outputs: { choice } },
      isValid: text => choice.includes(text),
      isBeginning: text => choice.some(each => each.startsWith(text)),
    }),
  );

const GRAMMARS: readonly (readonly [grammar: string, isValid: (text: string) => boolean])[] = [
  ['root ::= "(" root ")" | "x"', text => /^\(*x\)*$/.test(text) && count(text, '(') === count(text, ')')],
  ['root ::= [a-c] root [a-c] | "|"', text => text.indexOf('|') * 2 === text.length - 1],
  ['root ::= item (", " item)*\nitem ::= [0-9]+ | "\\"" [^"\\n]* "\\""', isList],
  ['start: "a"{2,4} ("b" | "cc")+', text => /^a{2,4}(?:b|cc)+$/.test(text)],
];
const ofGrammar = fc.constantFrom(...GRAMMARS).map(
  ([grammar, isValid]): RandomConstraint => ({
    fields: { structured_outputs: { grammar } },
    isValid,
    isBeginning: () => true,
  }),
);

export const randomConstraints: fc.Arbitrary<RandomConstraint> = fc.oneof(
  { arbitrary: ofSchema, weight: 4 },
  ofPattern,
  ofChoice,
  ofGrammar,
);

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** Numbers and quoted texts, which may hold the separator. */
function isList(text: string): boolean {
  let rest = text;
  for (;;) {
    const item = /^(?:[0-9]+|"[^"\n]*")/.exec(rest)?.[0];
    if (item === undefined) return false;
    rest = rest.slice(item.length);
    if (rest === '') return true;
    if (!rest.startsWith(', ')) return false;
    rest = rest.slice(2);
  }
}

/** What is missing at the end is all that `JSON.parse` may complain about. */
function isCutJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    // A cut word, number or escape is blamed where it begins.
    return at === undefined || Number(at) >= text.length - 12;
  }
}
