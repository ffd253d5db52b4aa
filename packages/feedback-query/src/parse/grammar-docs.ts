// The grammar table as a Markdown table and as a JSON Schema, so that neither can drift from the parser.
import { assertNever } from '../errors.ts';
import { CONVERT_TARGETS } from './expr-node.ts';
import { GRAMMAR, type GrammarRule } from './grammar.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A Markdown table with one row per operator: syntax, result, meaning, MongoDB equivalent. */
export function grammarMarkdown(): string {
  const rows = GRAMMAR.map(rule => {
    const name = `\`${rule.name}\`${rule.extension ? ' (extension)' : ''}`;
    const mongo = `[$${rule.mongo}](https://www.mongodb.com/docs/manual/reference/operator/aggregation/${rule.mongo}/)`;
    return `| ${name} | \`${usage(rule)}\` | ${rule.result} | ${rule.doc} | ${mongo} |`;
  });
  return [
    '| Operator | Syntax | Result | Meaning | MongoDB equivalent |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function usage(rule: GrammarRule): string {
  const operands = USAGE[rule.form];
  const written = rule.form === 'text-match' ? operands.replace('needle', rule.needleKey) : operands;
  return `{"${rule.name}": ${written}}`;
}

const USAGE = {
  literal: 'value',
  field: '"name"',
  operand: 'operand',
  'list-of-one': '[operand]',
  list: '[operand, ...]',
  pair: '[left, right]',
  'value-and-list': '[value, [operand, ...]]',
  convert: `{"input": operand, "to": ${CONVERT_TARGETS.map(target => `"${target}"`).join(' or ')}}`,
  'text-match': '{"input": operand, "needle": operand, "case_insensitive": false}',
} as const satisfies Record<GrammarRule['form'], string>;

/** JSON Schema (draft 2020-12) of `query`; limits and field names are checked by the binder. */
export function grammarJsonSchema(): JsonSchema {
  const schemas = Object.fromEntries(GRAMMAR.map(rule => [rule.name.slice(1), operatorSchema(rule)]));
  const references = (rules: readonly GrammarRule[]) =>
    rules.map(rule => ({ $ref: `#/$defs/${rule.name.slice(1)}` }));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { $expr: { $ref: '#/$defs/operation' } },
    required: ['$expr'],
    additionalProperties: false,
    $defs: {
      operation: { oneOf: references(GRAMMAR.filter(rule => rule.result === 'condition')) },
      operand: { oneOf: references(GRAMMAR) },
      ...schemas,
    },
  };
}

const OPERAND: JsonSchema = { $ref: '#/$defs/operand' };

function operatorSchema(rule: GrammarRule): JsonSchema {
  return {
    type: 'object',
    description: rule.extension ? `${rule.doc} Extension.` : rule.doc,
    properties: { [rule.name]: argumentSchema(rule) },
    required: [rule.name],
  };
}

function argumentSchema(rule: GrammarRule): JsonSchema {
  switch (rule.form) {
    case 'literal':
      return { type: ['string', 'number', 'boolean', 'null'] };
    case 'field':
      return { type: 'string' };
    case 'operand':
      return OPERAND;
    case 'list-of-one':
      return tuple([OPERAND]);
    case 'list':
      return { type: 'array', items: OPERAND, minItems: 1 };
    case 'pair':
      return tuple([OPERAND, OPERAND]);
    case 'value-and-list':
      return tuple([OPERAND, { type: 'array', items: OPERAND }]);
    case 'convert':
      return named({ input: OPERAND, to: { enum: CONVERT_TARGETS } }, ['input', 'to']);
    case 'text-match':
      return named(
        {
          input: OPERAND,
          [rule.needleKey]: OPERAND,
          case_insensitive: { type: ['boolean', 'null'], default: false },
        },
        ['input', rule.needleKey],
      );
    default:
      return assertNever(rule);
  }
}

function tuple(items: readonly JsonSchema[]): JsonSchema {
  // Some generators of clients know no `items: false`.
  return { type: 'array', prefixItems: items, minItems: items.length, maxItems: items.length };
}

function named(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
