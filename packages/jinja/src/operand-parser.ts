// Operands of an expression: literals, names, calls, items and slices, with the filters and tests applied to them.

import type { CallArguments, Expression, FilterCall, SliceParts } from './nodes.ts';
import { parseStringLiteral } from './string-literal.ts';
import { TemplateError } from './template-error.ts';
import { TokenCursor } from './token-cursor.ts';

const NO_ARGUMENTS: CallArguments = { positional: [], named: [] };
/** Names after a test that are not its argument. */
const NOT_AN_ARGUMENT: readonly string[] = ['else', 'or', 'and'];

export abstract class OperandParser extends TokenCursor {
  abstract parseExpression(): Expression;
  /** An expression, or several with commas between them as one tuple. */
  abstract parseTuple(): Expression;

  /** `| name(arguments)`, any number of times; the first may be without its bar. */
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

  /** A value with its attributes, items and calls. */
  protected parseOperand(): Expression {
    return this.#postfix(this.#primary());
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

  /** The operand with the filters, tests and calls that follow it. */
  protected parseFiltersAndTests(start: Expression): Expression {
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
        args = { positional: [this.parseOperand()], named: [] };
      }
    }
    const test: Expression = { kind: 'test', input, name, args, line };
    return isNegated ? { kind: 'not', operand: test, line } : test;
  }

  #callArguments(): CallArguments {
    this.expect('(');
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    let spreadPositional: Expression | undefined;
    let spreadNamed: Expression | undefined;
    let isFirst = true;
    while (!this.skip(')')) {
      if (!isFirst) this.expect(',');
      isFirst = false;
      if (this.skip(')')) break;
      const { line } = this.current;
      if (spreadNamed !== undefined) throw new TemplateError('Nothing may follow ** in a call.', line);
      if (this.skip('*')) {
        if (spreadPositional !== undefined) throw new TemplateError('A call has at most one *.', line);
        spreadPositional = this.parseExpression();
        continue;
      }
      if (this.skip('**')) {
        spreadNamed = this.parseExpression();
        continue;
      }
      const next = this.tokens[this.at + 1];
      if (this.current.kind === 'name' && next?.kind === 'operator' && next.text === '=') {
        const { text } = this.expectName();
        this.at++;
        named.push([text, this.parseExpression()]);
      } else {
        if (named.length > 0 || spreadPositional !== undefined)
          throw new TemplateError('Positional arguments must come before named and unpacked ones.', line);
        positional.push(this.parseExpression());
      }
    }
    return {
      positional,
      named,
      ...(spreadPositional !== undefined && { spreadPositional }),
      ...(spreadNamed !== undefined && { spreadNamed }),
    };
  }

  #dotted(first: string): string {
    let name = first;
    while (this.skip('.')) name += `.${this.expectName().text}`;
    return name;
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
