// The value operators `$size` and `$convert`, applied to a bound operand.
import { assertNever } from '../errors.ts';
import type { ConvertTarget } from '../parse/expr-node.ts';
import type { ExprPath } from '../parse/expr-path.ts';
import { valueType } from './bound-node.ts';
import {
  condition,
  numberOf,
  type Operand,
  type PresentOperand,
  presenceOf,
  readPayload,
  refusal,
  textOf,
  textParameter,
  valued,
} from './operand.ts';

/** The operand of `$size`. Throws: `QueryError` `unsupported_operand`. */
export function sizeOf(operand: Operand, path: ExprPath): Operand {
  if (operand.kind === 'collection') {
    return valued({ kind: 'column-size', column: operand.column });
  }
  if (operand.kind === 'payload') {
    return valued({ kind: 'payload-size', segments: operand.segments });
  }
  if (operand.kind === 'literal' && typeof operand.value === 'string') {
    return valued({ kind: 'text-length', input: textParameter(operand.value) });
  }
  if (operand.kind === 'value' && valueType(operand.value) === 'text') {
    return valued({ kind: 'text-length', input: operand.value });
  }
  throw refusal('unsupported_operand', path, '$size takes a text, a list, a map or a payload path');
}

/** The operand of `$convert`. Throws: `QueryError` `unsupported_operand`. */
export function convertTo(to: ConvertTarget, operand: Operand, path: ExprPath): Operand {
  if (to === 'exists') return condition(presenceOf(operand));
  if (operand.kind === 'null') return operand;
  switch (to) {
    case 'string':
      return valued(textOf(operand, path));
    case 'double':
      return valued(numberOf(operand, path));
    case 'int': {
      const input = numberOf(operand, path);
      if (valueType(input) === 'integer') return valued(input);
      return valued({ kind: 'cast', cast: 'number-to-integer', input });
    }
    case 'bool':
      return convertToBool(operand, path);
    default:
      return assertNever(to);
  }
}

function convertToBool(operand: PresentOperand, path: ExprPath): Operand {
  if (operand.kind === 'condition') return operand;
  if (operand.kind === 'payload') return valued(readPayload(operand.segments, 'flag'));
  if (operand.kind === 'value' && valueType(operand.value) === 'text') {
    return valued({ kind: 'cast', cast: 'text-to-flag', input: operand.value });
  }
  if (operand.kind === 'literal' && typeof operand.value === 'string') {
    const input = textParameter(operand.value);
    return valued({ kind: 'cast', cast: 'text-to-flag', input });
  }
  const input = numberOf(operand, path);
  return valued({ kind: 'cast', cast: 'number-to-flag', input });
}
