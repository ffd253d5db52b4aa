// The grammar as one table of operators. It drives the parser, and the documentation and the JSON Schema are generated
// from it. A new operator of an existing form is one row here.
import {
  type ConvertTarget,
  compareNode,
  convertNode,
  type ExprNode,
  existsNode,
  fieldNode,
  type LiteralValue,
  literalNode,
  logicNode,
  membershipNode,
  notNode,
  sizeNode,
  textMatchNode,
} from './expr-node.ts';

/** The syntax of an operator's operands, and the constructor of its node. */
export type OperatorForm =
  | { readonly form: 'literal'; readonly build: (value: LiteralValue) => ExprNode }
  | { readonly form: 'field'; readonly build: (name: string) => ExprNode }
  | { readonly form: 'operand'; readonly build: (operand: ExprNode) => ExprNode }
  | { readonly form: 'list-of-one'; readonly build: (operand: ExprNode) => ExprNode }
  | { readonly form: 'list'; readonly build: (operands: readonly ExprNode[]) => ExprNode }
  | { readonly form: 'pair'; readonly build: (left: ExprNode, right: ExprNode) => ExprNode }
  | {
      readonly form: 'value-and-list';
      readonly build: (value: ExprNode, list: readonly ExprNode[]) => ExprNode;
    }
  | { readonly form: 'convert'; readonly build: (input: ExprNode, to: ConvertTarget) => ExprNode }
  | {
      readonly form: 'text-match';
      /** Name of the argument with the substring or prefix. */
      readonly needleKey: 'substr' | 'prefix';
      readonly build: (input: ExprNode, needle: ExprNode, caseInsensitive: boolean) => ExprNode;
    };

export type GrammarRule = OperatorForm & {
  readonly name: `$${string}`;
  /** `condition`: true or false, allowed at the top. `value`: allowed only inside an operation. */
  readonly result: 'condition' | 'value';
  /** Whether the original API lacks this operator. */
  readonly extension: boolean;
  readonly doc: string;
  /** The MongoDB aggregation operator whose spelling this one follows. */
  readonly mongo: string;
};

type RuleHead = Omit<GrammarRule, 'form' | 'build' | 'needleKey' | 'mongo'>;

function rule(head: RuleHead & { readonly mongo?: string }, form: OperatorForm): GrammarRule {
  return Object.freeze({ ...head, mongo: head.mongo ?? head.name.slice(1), ...form });
}

function compareRule(operator: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte', doc: string): GrammarRule {
  return rule(
    { name: `$${operator}`, result: 'condition', extension: operator === 'ne', doc },
    { form: 'pair', build: (left, right) => compareNode(operator, left, right) },
  );
}

/** Every operator, in the order of the documentation. */
export const GRAMMAR: readonly GrammarRule[] = Object.freeze([
  rule(
    { name: '$literal', result: 'value', extension: false, doc: 'A string, number, boolean or null.' },
    { form: 'literal', build: literalNode },
  ),
  rule(
    {
      name: '$getField',
      result: 'value',
      extension: false,
      doc: 'A column, a key of a map column (`scorer_ratings.key`) or a payload path (`payload.a.0.b`; `\\.` is a dot inside a key).',
    },
    { form: 'field', build: fieldNode },
  ),
  rule(
    {
      name: '$convert',
      result: 'value',
      extension: false,
      doc: 'The input converted to another type; null when the conversion fails. `exists`: whether the field is present.',
    },
    { form: 'convert', build: convertNode },
  ),
  rule(
    {
      name: '$size',
      result: 'value',
      extension: false,
      doc: 'The number of elements of a list, keys of an object or characters of a string.',
    },
    { form: 'operand', build: sizeNode },
  ),
  rule(
    { name: '$and', result: 'condition', extension: false, doc: 'Every operand is true.' },
    { form: 'list', build: operands => logicNode('and', operands) },
  ),
  rule(
    { name: '$or', result: 'condition', extension: false, doc: 'At least one operand is true.' },
    { form: 'list', build: operands => logicNode('or', operands) },
  ),
  rule(
    { name: '$not', result: 'condition', extension: false, doc: 'The operand is not true.' },
    { form: 'list-of-one', build: notNode },
  ),
  compareRule('eq', 'Both sides are equal; equal to null means absent.'),
  compareRule('ne', 'The opposite of `$eq`.'),
  compareRule('gt', 'Left is greater than right.'),
  compareRule('gte', 'Left is greater than or equal to right.'),
  compareRule('lt', 'Left is less than right.'),
  compareRule('lte', 'Left is less than or equal to right.'),
  rule(
    { name: '$in', result: 'condition', extension: false, doc: 'The value equals one element of the list.' },
    { form: 'value-and-list', build: (value, list) => membershipNode('in', value, list) },
  ),
  rule(
    { name: '$nin', result: 'condition', extension: true, doc: 'The opposite of `$in`.' },
    { form: 'value-and-list', build: (value, list) => membershipNode('nin', value, list) },
  ),
  rule(
    {
      name: '$contains',
      result: 'condition',
      extension: false,
      doc: 'The input contains the substring, matched literally. On `scorer_tags`: a tag equals the substring.',
      mongo: 'indexOfCP',
    },
    {
      form: 'text-match',
      needleKey: 'substr',
      build: (input, needle, caseInsensitive) => textMatchNode('contains', input, needle, caseInsensitive),
    },
  ),
  rule(
    {
      name: '$startsWith',
      result: 'condition',
      extension: true,
      doc: 'The input starts with the prefix.',
      mongo: 'indexOfCP',
    },
    {
      form: 'text-match',
      needleKey: 'prefix',
      build: (input, needle, caseInsensitive) => textMatchNode('startsWith', input, needle, caseInsensitive),
    },
  ),
  rule(
    {
      name: '$exists',
      result: 'condition',
      extension: true,
      doc: 'The field is present; a payload key with the value null is present.',
      mongo: 'type',
    },
    { form: 'operand', build: existsNode },
  ),
]);

/** The rule of an operator by its name. */
export const GRAMMAR_BY_NAME: ReadonlyMap<string, GrammarRule> = new Map(GRAMMAR.map(row => [row.name, row]));
