// Expressions of a template. The order of the methods is the order of precedence, weakest first, as in jinja2.

import type { Token, TokenKind } from './lexer.ts';
import type {
  BinaryOperator,
  CallArguments,
  CompareOperator,
  Comparison,
  Expression,
  FilterCall,
  SliceParts,
} from './nodes.ts';
import { parseStringLiteral } from './string-literal.ts';
import { TemplateError } from './template-error.ts';

const COMPARISONS: readonly string[] = ['==', '!=', '<', '>', '<=', '>='];
const NO_ARGUMENTS: CallArguments = { positional: [], named: [] };
/** Names after a test that are not its argument. */
const NOT_AN_ARGUMENT: readonly string[] = ['else', 'or', 'and'];
/** Deep nesting would overflow the stack of the parser. */
const DEPTH_LIMIT = 200;

export class ExpressionParser {
  readonly tokens: readonly Token[];
  at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get current(): Token {
    return this.tokens[this.at]!;
  }

  /** Whether the current token is this name or operator. */
  is(text: string, kind: TokenKind = /^\w/.test(text) ? 'name' : 'operator'): boolean {
    return this.current.kind === kind && this.current.text === text;
  }

  skip(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  expect(text: string): Token {
    const token = this.current;
    if (!this.is(text)) throw this.unexpected(`"${text}"`);
    this.at++;
    return token;
  }

  expectName(): Token {
    const token = this.current;
    if (token.kind !== 'name') throw this.unexpected('a name');
    this.at++;
    return token;
  }

  unexpected(wanted: string): TemplateError {
    const { kind, text, line } = this.current;
    return new TemplateError(
      `Expected ${wanted}, found ${kind === 'end' ? 'the end of the template' : `"${text}"`}.`,
      line,
    );
  }

  /** An expression, or several with commas between them as one tuple. */
  parseTuple(withCondition = true): Expression {
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

  parseExpression(): Expression {
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

  parseExpressionWithoutCondition(): Expression {
    return this.#or();
  }

  /** `| name(arguments)`, any number of times; the first may stand without its bar. */
  parseFilterCalls(startsWithName: boolean): FilterCall[] {
    const calls: FilterCall[] = [];
    while (startsWithName ? calls.length === 0 || this.is('|') : this.is('|')) {
      if (this.is('|')) this.at++;
      const { text, line } = this.expectName();
      calls.push({
        name: this.#dotted(text),
        args: this.is('(') ? this.#callArguments() : NO_ARGUMENTS,
        line,
      });
    }
    return calls;
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
    else value = this.#postfix(this.#primary());
    this.#depth--;
    return withFilter ? this.#filtersAndTests(value) : value;
  }

  #primary(): Expression {
    const token = this.current;
    const { kind, text, line } = token;
    this.at++;
    switch (kind) {
      case 'name':
        return namedPrimary(text, line);
      case 'integer':
        return { kind: 'literal', value: toInteger(text, line), line };
      case 'float':
        return { kind: 'float', value: Number(text.replaceAll('_', '')), line };
      case 'string': {
        let value = parseStringLiteral(text, line);
        while (this.current.kind === 'string')
          value += parseStringLiteral(this.tokens[this.at++]!.text, line);
        return { kind: 'literal', value, line };
      }
      case 'operator':
        if (text === '(') return this.#parenthesis(line);
        if (text === '[') return { kind: 'list', items: this.#items(']'), line };
        if (text === '{') return this.#dict(line);
    }
    this.at--;
    throw this.unexpected('a value');
  }

  #parenthesis(line: number): Expression {
    if (this.skip(')')) return { kind: 'tuple', items: [], line };
    const value = this.parseTuple();
    this.expect(')');
    return value;
  }

  #items(closer: string): Expression[] {
    const items: Expression[] = [];
    while (!this.skip(closer)) {
      if (items.length > 0) this.expect(',');
      if (this.skip(closer)) break;
      items.push(this.parseExpression());
    }
    return items;
  }

  #dict(line: number): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.skip('}')) {
      if (entries.length > 0) this.expect(',');
      if (this.skip('}')) break;
      const key = this.parseExpression();
      this.expect(':');
      entries.push([key, this.parseExpression()]);
    }
    return { kind: 'dict', entries, line };
  }

  #postfix(start: Expression): Expression {
    let value = start;
    for (;;) {
      const { line } = this.current;
      if (this.skip('.')) {
        const token = this.current;
        this.at++;
        if (token.kind === 'name') value = { kind: 'attribute', object: value, name: token.text, line };
        else if (token.kind === 'integer') {
          const key: Expression = { kind: 'literal', value: toInteger(token.text, line), line };
          value = { kind: 'item', object: value, key, line };
        } else throw new TemplateError('Expected a name or number after ".".', line);
      } else if (this.skip('[')) value = this.#subscript(value, line);
      else if (this.is('(')) value = { kind: 'call', callee: value, args: this.#callArguments(), line };
      else return value;
    }
  }

  #subscript(object: Expression, line: number): Expression {
    const parts: (Expression | null)[] = [null, null, null];
    let count = 0;
    while (!this.is(']')) {
      if (this.skip(':')) {
        if (++count > 2) throw new TemplateError('A slice has at most three parts.', line);
      } else if (parts[count] === null) parts[count] = this.parseTuple();
      else throw this.unexpected('"]"');
    }
    this.expect(']');
    if (count > 0) return { kind: 'slice', object, parts: parts as unknown as SliceParts, line };
    if (parts[0] === null) throw new TemplateError('Expected a key between the brackets.', line);
    return { kind: 'item', object, key: parts[0]!, line };
  }

  #filtersAndTests(start: Expression): Expression {
    let value = start;
    for (;;) {
      const { line } = this.current;
      if (this.is('|')) {
        for (const call of this.parseFilterCalls(false)) value = { kind: 'filter', input: value, ...call };
      } else if (this.is('is')) value = this.#test(value);
      else if (this.is('(')) value = { kind: 'call', callee: value, args: this.#callArguments(), line };
      else return value;
    }
  }

  #test(input: Expression): Expression {
    const { line } = this.expect('is');
    const isNegated = this.skip('not');
    const name = this.#dotted(this.expectName().text);
    let args = NO_ARGUMENTS;
    const { kind, text } = this.current;
    if (this.is('(')) args = this.#callArguments();
    else {
      const mayBegin = ['name', 'string', 'integer', 'float'].includes(kind) || text === '[' || text === '{';
      if (mayBegin && !(kind === 'name' && NOT_AN_ARGUMENT.includes(text))) {
        if (this.is('is')) throw new TemplateError('Tests cannot be chained with "is".', line);
        args = { positional: [this.#postfix(this.#primary())], named: [] };
      }
    }
    const test: Expression = { kind: 'test', input, name, args, line };
    return isNegated ? { kind: 'not', operand: test, line } : test;
  }

  #callArguments(): CallArguments {
    const { line } = this.expect('(');
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    while (!this.skip(')')) {
      if (positional.length + named.length > 0) this.expect(',');
      if (this.skip(')')) break;
      if (this.is('*') || this.is('**'))
        throw new TemplateError('Unpacked arguments (*, **) are not supported.', line);
      const next = this.tokens[this.at + 1];
      if (this.current.kind === 'name' && next?.kind === 'operator' && next.text === '=') {
        const { text } = this.expectName();
        this.at++;
        named.push([text, this.parseExpression()]);
      } else {
        if (named.length > 0)
          throw new TemplateError('Positional arguments must come before named ones.', line);
        positional.push(this.parseExpression());
      }
    }
    return { positional, named };
  }

  #dotted(first: string): string {
    let name = first;
    while (this.skip('.')) name += `.${this.expectName().text}`;
    return name;
  }

  #endsTuple(): boolean {
    const { kind } = this.current;
    return kind === 'variable-end' || kind === 'block-end' || this.is(')') || this.is('=') || this.is('in');
  }
}

function namedPrimary(text: string, line: number): Expression {
  switch (text) {
    case 'true':
    case 'True':
      return { kind: 'literal', value: true, line };
    case 'false':
    case 'False':
      return { kind: 'literal', value: false, line };
    case 'none':
    case 'None':
      return { kind: 'literal', value: null, line };
    default:
      return { kind: 'name', name: text, line };
  }
}

function toInteger(text: string, line: number): number {
  const value = Number(text.replaceAll('_', ''));
  if (!Number.isSafeInteger(value)) throw new TemplateError(`The number ${text} is too large.`, line);
  return value;
}
