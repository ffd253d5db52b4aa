// Expressions of a template. The order of the methods is the order of precedence, weakest first, as in jinja2.

import type { BinaryOperator, CompareOperator, Comparison, Expression } from './nodes.ts';
import { OperandParser } from './operand-parser.ts';
import { TemplateError } from './template-error.ts';

const COMPARISONS: readonly string[] = ['==', '!=', '<', '>', '<=', '>='];
/** Deep nesting would overflow the stack of the parser. */
const DEPTH_LIMIT = 200;

export class ExpressionParser extends OperandParser {
  #depth = 0;

  override parseTuple(withCondition = true): Expression {
    const { line } = this.current;
    const first = withCondition ? this.parseExpression() : this.#or();
    if (!this.is(',')) return first;
    const items = [first];
    while (this.skip(',')) {
      if (this.#endsTuple()) break;
      items.push(withCondition ? this.parseExpression() : this.#or());
    }
    return { kind: 'tuple', items, line };
  }

  override parseExpression(): Expression {
    if (++this.#depth > DEPTH_LIMIT)
      throw new TemplateError('The expression is nested too deeply.', this.current.line);
    let value = this.#or();
    while (this.is('if')) {
      const { line } = this.current;
      this.at++;
      const test = this.#or();
      const no = this.skip('else') ? this.parseExpression() : null;
      value = { kind: 'condition', test, yes: value, no, line };
    }
    this.#depth--;
    return value;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.is('or')) {
      const { line } = this.tokens[this.at++]!;
      left = { kind: 'or', left, right: this.#and(), line };
    }
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.is('and')) {
      const { line } = this.tokens[this.at++]!;
      left = { kind: 'and', left, right: this.#not(), line };
    }
    return left;
  }

  #not(): Expression {
    if (!this.is('not')) return this.#compare();
    const { line } = this.tokens[this.at++]!;
    return { kind: 'not', operand: this.#not(), line };
  }

  #compare(): Expression {
    const { line } = this.current;
    const first = this.#sum();
    const rest: Comparison[] = [];
    for (;;) {
      let operator: CompareOperator;
      if (this.current.kind === 'operator' && COMPARISONS.includes(this.current.text)) {
        operator = this.current.text as CompareOperator;
      } else if (this.is('in')) {
        operator = 'in';
      } else if (this.is('not') && this.tokens[this.at + 1]?.text === 'in') {
        this.at++;
        operator = 'not in';
      } else {
        return rest.length === 0 ? first : { kind: 'compare', first, rest, line };
      }
      this.at++;
      rest.push({ operator, operand: this.#sum() });
    }
  }

  #sum(): Expression {
    return this.#binary(['+', '-'], () => this.#concat());
  }

  #concat(): Expression {
    const { line } = this.current;
    const parts = [this.#product()];
    while (this.skip('~')) parts.push(this.#product());
    return parts.length === 1 ? parts[0]! : { kind: 'concat', parts, line };
  }

  #product(): Expression {
    return this.#binary(['*', '/', '//', '%'], () => this.#power());
  }

  #power(): Expression {
    return this.#binary(['**'], () => this.#unary(true));
  }

  #binary(operators: readonly BinaryOperator[], next: () => Expression): Expression {
    let left = next();
    for (;;) {
      const operator = operators.find(each => this.is(each));
      if (operator === undefined) return left;
      const { line } = this.tokens[this.at++]!;
      left = { kind: 'binary', operator, left, right: next(), line };
    }
  }

  #unary(withFilter: boolean): Expression {
    const { line } = this.current;
    if (++this.#depth > DEPTH_LIMIT) throw new TemplateError('The expression is nested too deeply.', line);
    let value: Expression;
    if (this.skip('-')) value = { kind: 'negative', operand: this.#unary(false), line };
    else if (this.skip('+')) value = { kind: 'positive', operand: this.#unary(false), line };
    else value = this.parseOperand();
    this.#depth--;
    return withFilter ? this.parseFiltersAndTests(value) : value;
  }

  #endsTuple(): boolean {
    const { kind } = this.current;
    return kind === 'variable-end' || kind === 'block-end' || this.is(')') || this.is('=') || this.is('in');
  }
}
