// Statements of a template: tokens to tree. Tags that chat templates have no use for are refused by name.

import { ExpressionParser } from './expression-parser.ts';
import { tokenizeTemplate } from './lexer.ts';
import type { Expression, MacroSignature, Statement, Target } from './nodes.ts';
import { TemplateError } from './template-error.ts';

/** Throws: `TemplateError`. */
export function parseTemplate(template: string): readonly Statement[] {
  return new StatementParser(tokenizeTemplate(template)).parseAll();
}

/** Bodies nested deeper than any real template would overflow the stack. */
const DEPTH_LIMIT = 100;

class StatementParser extends ExpressionParser {
  #loopDepth = 0;
  #bodyDepth = 0;

  parseAll(): Statement[] {
    const body = this.#body([]);
    if (this.current.kind !== 'end') throw this.unexpected('the end of the template');
    return body;
  }

  /** Statements up to a tag with one of these names. Its `{%` is read; its name is left for the caller. */
  #body(enders: readonly string[]): Statement[] {
    if (++this.#bodyDepth > DEPTH_LIMIT)
      throw new TemplateError('Tags are nested too deeply.', this.current.line);
    const body: Statement[] = [];
    for (;;) {
      const { kind, text, line } = this.current;
      if (kind === 'end') {
        if (enders.length > 0)
          throw new TemplateError(
            `Expected the tag ${enders.join(' or ')}, found the end of the template.`,
            line,
          );
        break;
      }
      this.at++;
      if (kind === 'data') body.push({ kind: 'text', text, line });
      else if (kind === 'variable-begin') {
        body.push({ kind: 'output', value: this.parseTuple(), line });
        this.#end('variable-end');
      } else {
        if (this.current.kind === 'name' && enders.includes(this.current.text)) break;
        body.push(this.#statement());
      }
    }
    this.#bodyDepth--;
    return body;
  }

  #statement(): Statement {
    const { text: tag, line } = this.expectName();
    switch (tag) {
      case 'if':
        return this.#if(line);
      case 'for':
        return this.#for(line);
      case 'set':
        return this.#set(line);
      case 'macro': {
        const name = this.expectName().text;
        const signature = this.#signature();
        return { kind: 'macro', name, signature, body: this.#callableBody('endmacro'), line };
      }
      case 'call': {
        const signature = this.is('(') ? this.#signature() : { parameters: [] };
        const call = this.parseExpression();
        return { kind: 'call-block', call, signature, body: this.#callableBody('endcall'), line };
      }
      case 'filter': {
        const filters = this.parseFilterCalls(true);
        return { kind: 'filter-block', filters, body: this.#closedBody('endfilter'), line };
      }
      case 'with':
        return this.#with(line);
      case 'generation':
        // Marks the assistant's own words for training tools; the text is what it is without the tag.
        return { kind: 'scope', assignments: [], body: this.#closedBody('endgeneration'), line };
      case 'break':
      case 'continue':
        if (this.#loopDepth === 0) throw new TemplateError(`"${tag}" is outside of a loop.`, line);
        this.#end('block-end');
        return { kind: tag, line };
      default:
        throw new TemplateError(`Unknown or unsupported tag "${tag}".`, line);
    }
  }

  #if(line: number): Statement {
    const branches = [];
    let otherwise: Statement[] = [];
    let test = this.parseTuple(false);
    for (;;) {
      this.#end('block-end');
      branches.push({ test, body: this.#body(['elif', 'else', 'endif']) });
      if (!this.skip('elif')) break;
      test = this.parseTuple(false);
    }
    if (this.skip('else')) {
      this.#end('block-end');
      otherwise = this.#body(['endif']);
    }
    this.expect('endif');
    this.#end('block-end');
    return { kind: 'if', branches, otherwise, line };
  }

  #for(line: number): Statement {
    const target = this.#target();
    this.expect('in');
    const iterable = this.parseTuple(false);
    const filter = this.skip('if') ? this.parseExpression() : null;
    if (this.is('recursive')) throw new TemplateError('Recursive loops are not supported.', line);
    this.#end('block-end');
    this.#loopDepth++;
    const body = this.#body(['else', 'endfor']);
    this.#loopDepth--;
    let otherwise: Statement[] = [];
    if (this.skip('else')) {
      this.#end('block-end');
      otherwise = this.#body(['endfor']);
    }
    this.expect('endfor');
    this.#end('block-end');
    return { kind: 'for', target, iterable, filter, body, otherwise, line };
  }

  #set(line: number): Statement {
    const target = this.#target(true);
    if (this.skip('=')) {
      const value = this.parseTuple();
      this.#end('block-end');
      return { kind: 'set', target, value, line };
    }
    const filters = this.parseFilterCalls(false);
    return { kind: 'set-block', target, filters, body: this.#closedBody('endset'), line };
  }

  #with(line: number): Statement {
    const assignments: [Target, Expression][] = [];
    while (this.current.kind !== 'block-end') {
      if (assignments.length > 0) this.expect(',');
      const target = this.#single(false);
      this.expect('=');
      assignments.push([target, this.parseExpression()]);
    }
    return { kind: 'scope', assignments, body: this.#closedBody('endwith'), line };
  }

  #target(mayBeAttribute = false): Target {
    const { line } = this.current;
    const first = this.#single(mayBeAttribute);
    if (!this.is(',')) return first;
    const items = [first];
    while (this.skip(',')) {
      if (this.is('in') || this.is('=')) break;
      items.push(this.#single(mayBeAttribute));
    }
    return { kind: 'tuple', items, line };
  }

  #single(mayBeAttribute: boolean): Target {
    const { line } = this.current;
    if (this.skip('(')) {
      const inner = this.#target();
      this.expect(')');
      return inner;
    }
    const name = this.expectName().text;
    if (['true', 'false', 'none', 'True', 'False', 'None'].includes(name)) {
      throw new TemplateError(`"${name}" cannot be assigned to.`, line);
    }
    if (mayBeAttribute && this.skip('.')) {
      return { kind: 'namespace', name, attribute: this.expectName().text, line };
    }
    return { kind: 'name', name, line };
  }

  #signature(): MacroSignature {
    this.expect('(');
    const parameters = [];
    while (!this.skip(')')) {
      if (parameters.length > 0) this.expect(',');
      const name = this.expectName().text;
      parameters.push({ name, fallback: this.skip('=') ? this.parseExpression() : null });
    }
    return { parameters };
  }

  /** A body in which `break` and `continue` do not mean the loops around it. */
  #callableBody(ender: string): Statement[] {
    const depth = this.#loopDepth;
    this.#loopDepth = 0;
    const body = this.#closedBody(ender);
    this.#loopDepth = depth;
    return body;
  }

  #closedBody(ender: string): Statement[] {
    this.#end('block-end');
    const body = this.#body([ender]);
    this.expect(ender);
    this.#end('block-end');
    return body;
  }

  #end(kind: 'block-end' | 'variable-end'): void {
    if (this.current.kind !== kind) throw this.unexpected(kind === 'block-end' ? '"%}"' : '"}}"');
    this.at++;
  }
}
