// A tree back to the JSON it was parsed from.
import { assertNever } from '../src/errors.ts';
import type { ExprNode } from '../src/parse/expr-node.ts';

/** Inverse of `parseExpr`. */
export function printExpr(node: ExprNode): Readonly<Record<string, unknown>> {
  switch (node.kind) {
    case 'literal':
      return { $literal: node.value };
    case 'field':
      return { $getField: node.name };
    case 'convert':
      return { $convert: { input: printExpr(node.input), to: node.to } };
    case 'size':
      return { $size: printExpr(node.input) };
    case 'logic':
      return { [`$${node.operator}`]: node.operands.map(printExpr) };
    case 'not':
      return { $not: [printExpr(node.operand)] };
    case 'compare':
      return { [`$${node.operator}`]: [printExpr(node.left), printExpr(node.right)] };
    case 'membership':
      return { [`$${node.operator}`]: [printExpr(node.value), node.list.map(printExpr)] };
    case 'text-match': {
      const needle = node.operator === 'contains' ? 'substr' : 'prefix';
      return {
        [`$${node.operator}`]: {
          input: printExpr(node.input),
          [needle]: printExpr(node.needle),
          case_insensitive: node.caseInsensitive,
        },
      };
    }
    case 'exists':
      return { $exists: printExpr(node.input) };
    default:
      return assertNever(node);
  }
}
