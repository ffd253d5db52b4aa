// Random rows and expressions. Values come from small pools that meet often and hold every trap we know of:
// numeric texts, near-numbers, booleans as text, JSON nulls, odd keys, lists where objects are expected.
import fc from 'fast-check';
import type { SortKey } from '../src/bind/sort-order.ts';
import {
  compareNode,
  convertNode,
  type ExprNode,
  existsNode,
  fieldNode,
  literalNode,
  logicNode,
  membershipNode,
  notNode,
  sizeNode,
  textMatchNode,
} from '../src/parse/expr-node.ts';
import { type FeedbackRow, feedbackRow } from './feedback-row.ts';

/** Texts on the edge of being something else. */
export const TEXTS: readonly string[] = [
  '',
  'a',
  'A',
  'ab',
  'aB',
  'b',
  'true',
  'false',
  'null',
  '0',
  '-0',
  '1',
  '5',
  '-5',
  '05',
  '+5',
  ' 5',
  '5 ',
  '5.0',
  '.5',
  '1e2',
  '1E+2',
  '1e100',
  '1e-400',
  '255',
  '256',
  '9007199254740993',
  '9223372036854775807',
  'Infinity',
  'NaN',
  '0x10',
  'é',
  'É',
  '👍',
  '\u{10000}',
  '\uffee',
  '[1]',
  '{"a":1}',
  "o'clock",
  'say "hi"',
  '\\',
  '%',
  '_',
  '*',
  '\n',
  '\u0001',
  '2026-01-02',
  '12345678901234567890123456789012345678901234567890123456789012345',
];
/** Numbers on the edge of a rule. */
export const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  2,
  5,
  0.5,
  -0.5,
  0.1,
  100,
  255,
  256,
  1e21,
  1e-7,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1.5,
];
const KEYS = [
  'a',
  'b',
  '0',
  '1',
  'a.b',
  'x y',
  'q"t',
  "it's",
  'é',
  '',
  '01',
  '+1',
  '$',
  '[0]',
  'length',
  '\\',
];
const TAGS = ['a', 'A', 'b', '', 'é', '5'];
const MOMENTS = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-02T10:20:30.456Z'];

const anyText = fc
  .oneof({ weight: 4, arbitrary: fc.constantFrom(...TEXTS) }, fc.string({ unit: 'grapheme', maxLength: 4 }))
  .filter(text => !text.includes('\0'));
const anyNumber = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -300, max: 300 }),
);
const anyScalar = fc.oneof(anyText, anyNumber, fc.boolean(), fc.constant(null));

const { json: anyJson } = fc.letrec<{ json: unknown }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    anyScalar,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('json'), { maxKeys: 3 }),
  ),
}));

const anyPayload = fc.dictionary(fc.constantFrom(...KEYS), anyJson, {
  maxKeys: 5,
  noNullPrototype: true,
}) as fc.Arbitrary<Record<string, unknown>>;
const optionalText = fc.option(anyText, { nil: null });

const anyRow = fc.record({
  project_id: fc.constantFrom('acme/app', 'acme/app', 'acme/other'),
  creator: optionalText,
  queue_id: optionalText,
  created_at: fc.constantFrom(...MOMENTS),
  feedback_type: anyText,
  payload: anyPayload.map(payload => JSON.parse(JSON.stringify(payload)) as Record<string, unknown>),
  scorer_tags: fc.array(fc.constantFrom(...TAGS), { maxLength: 3 }),
  scorer_tag_reasons: fc.dictionary(fc.constantFrom(...KEYS), anyText, { maxKeys: 2, noNullPrototype: true }),
  scorer_ratings: fc.dictionary(
    fc.constantFrom(...KEYS),
    anyNumber.map(value => value + 0),
    {
      maxKeys: 2,
      noNullPrototype: true,
    },
  ),
});

/** Rows of two projects with ids r000, r001, ... */
export const anyRows: fc.Arbitrary<readonly FeedbackRow[]> = fc
  .array(anyRow, { minLength: 1, maxLength: 25 })
  .map(rows => rows.map((row, index) => feedbackRow({ ...row, id: `r${String(index).padStart(3, '0')}` })));

const anyKey = fc.constantFrom(...KEYS);
const escapeKey = (key: string) => key.replaceAll('.', '\\.');
const payloadField = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(anyKey, { minLength: 1, maxLength: 3 })
      .map(keys => `payload.${keys.map(escapeKey).join('.')}`),
  },
  fc.constantFrom('payload', 'payload_dump'),
);
const textField = fc.oneof(
  fc.constantFrom('id', 'creator', 'queue_id', 'feedback_type', 'project_id'),
  anyKey.map(key => `scorer_tag_reasons.${key}`),
);
const numberField = anyKey.map(key => `scorer_ratings.${key}`);
const collectionField = fc.constantFrom('scorer_tags', 'scorer_tag_reasons', 'scorer_ratings');

const dateLiteral = fc.constantFrom<string | number>(
  ...MOMENTS,
  '2026-01-02',
  '2026-01-02T10:20:30',
  '2026-01-02T12:20:30.456+02:00',
  1767312000,
  1767312000.5,
);

interface Operands {
  readonly payload: ExprNode;
  readonly text: ExprNode;
  readonly number: ExprNode;
  readonly condition: ExprNode;
  /** Whatever has a text form. */
  readonly printable: ExprNode;
}

const literalOf = (values: fc.Arbitrary<string | number | boolean | null>) => values.map(literalNode);
const fieldOf = (names: fc.Arbitrary<string>) => names.map(fieldNode);
const operators = fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte');

/** Expressions of every operator and type; nearly all of them bind. */
export const anyExpr: fc.Arbitrary<ExprNode> = fc.letrec<Operands>((tie: fc.LetrecTypedTie<Operands>) => {
  const anything = fc.oneof(tie('payload'), tie('text'), tie('number'), tie('condition'));
  const convertTo = (to: 'double' | 'string' | 'int' | 'bool' | 'exists', inputs: fc.Arbitrary<ExprNode>) =>
    inputs.map(input => convertNode(input, to));
  const compareAny = (side: fc.Arbitrary<ExprNode>) =>
    fc.tuple(operators, side, side).map(([operator, left, right]) => compareNode(operator, left, right));
  const membershipOf = (side: fc.Arbitrary<ExprNode>) =>
    fc
      .tuple(fc.constantFrom('in', 'nin'), side, fc.array(side, { maxLength: 4 }))
      .map(([operator, value, list]) => membershipNode(operator, value, list));
  const absent = fc.constant(literalNode(null));
  const texts = fc.oneof(tie('text'), tie('payload'), absent);
  const numbers = fc.oneof(tie('number'), tie('payload'), tie('condition'), absent);
  return {
    payload: fieldOf(payloadField),
    text: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      literalOf(anyText),
      fieldOf(textField),
      convertTo('string', tie('printable')),
    ),
    number: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      literalOf(anyNumber),
      literalOf(fc.boolean()),
      fieldOf(numberField),
      convertTo('double', anything),
      convertTo('int', anything),
      convertTo('bool', anything),
      fc.oneof(tie('payload'), tie('text'), fieldOf(collectionField)).map(sizeNode),
    ),
    printable: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      literalOf(fc.oneof(anyText, fc.boolean(), fc.integer())),
      tie('payload'),
      tie('text'),
      fieldOf(fc.constant('created_at')),
      convertTo('int', anything),
      tie('condition'),
    ),
    condition: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      compareAny(texts),
      compareAny(numbers),
      compareAny(fieldOf(payloadField)),
      fc
        .tuple(operators, literalOf(dateLiteral), fc.boolean())
        .map(([operator, date, isFirst]) =>
          isFirst
            ? compareNode(operator, date, fieldNode('created_at'))
            : compareNode(operator, fieldNode('created_at'), date),
        ),
      membershipOf(texts),
      membershipOf(numbers),
      membershipOf(fc.oneof(tie('payload'), literalOf(anyScalar))),
      fc
        .tuple(fc.constantFrom('contains', 'startsWith'), tie('printable'), tie('printable'), fc.boolean())
        .map(([operator, input, needle, fold]) => textMatchNode(operator, input, needle, fold)),
      fc
        .tuple(literalOf(fc.constantFrom(...TAGS)), fc.boolean())
        .map(([needle, fold]) => textMatchNode('contains', fieldNode('scorer_tags'), needle, fold)),
      fc.oneof(anything, fieldOf(collectionField)).map(existsNode),
      convertTo('exists', anything).map(input => compareNode('eq', input, literalNode(true))),
      fc.oneof(anything, fieldOf(collectionField)).map(notNode),
      fc
        .tuple(
          fc.constantFrom('and', 'or'),
          fc.array(fc.oneof(anything, absent), { minLength: 1, maxLength: 4 }),
        )
        .map(([operator, operands]) => logicNode(operator, operands)),
    ),
  };
}).condition;

/** Up to three sort keys of every kind of field. */
export const anySortKeys: fc.Arbitrary<readonly SortKey[]> = fc.array(
  fc.record({
    field: fc.oneof(payloadField, textField, numberField, fc.constantFrom('created_at', 'id')),
    direction: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 3 },
);
