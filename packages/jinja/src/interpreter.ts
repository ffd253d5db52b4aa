// Runs the statements of a template and collects its text.

import { applyFilter, call, evaluate, evaluateArguments, evaluateMarked } from './evaluate.ts';
import { type Marked, toPlain } from './markup.ts';
import { mentionsName } from './mentions-name.ts';
import { countStep, type RunLimits, startMeter } from './meter.ts';
import type { Expression, FilterCall, MacroSignature, Statement, Target } from './nodes.ts';
import { toText } from './print.ts';
import { Scope } from './scope.ts';
import { TemplateError } from './template-error.ts';
import { Callable, isTruthy, iterate, LoopState, Namespace, Tuple, Undefined, type Value } from './values.ts';

/** How a body ended. */
type Flow = 'done' | 'break' | 'continue';

/** Unit: UTF-16 code units. No context is that long: more comes from a runaway template. */
const OUTPUT_LIMIT = 64 * 1024 * 1024;
/** Macros that call themselves deeper would overflow the stack. */
const CALL_DEPTH_LIMIT = 200;

/** Text of a template. Throws: `TemplateError`. */
export function runTemplate(
  body: readonly Statement[],
  globals: ReadonlyMap<string, Value>,
  limits: RunLimits,
): string {
  startMeter(limits);
  const scope = new Scope(null);
  for (const [name, value] of globals) scope.set(name, value);
  return new Interpreter().capture(body, new Scope(scope));
}

class Interpreter {
  #output: string[] = [];
  #length = 0;
  #callDepth = 0;

  /** Runs a body with an output of its own and gives its text. */
  capture(body: readonly Statement[], scope: Scope): string {
    const outer = this.#output;
    this.#output = [];
    try {
      this.#run(body, scope);
      return this.#output.join('');
    } finally {
      this.#output = outer;
    }
  }

  #run(body: readonly Statement[], scope: Scope): Flow {
    for (const statement of body) {
      const flow = this.#statement(statement, scope);
      if (flow !== 'done') return flow;
    }
    return 'done';
  }

  #write(text: string): void {
    this.#length += text.length;
    if (this.#length > OUTPUT_LIMIT) throw new TemplateError('The template writes too much text.');
    this.#output.push(text);
  }

  #statement(statement: Statement, scope: Scope): Flow {
    switch (statement.kind) {
      case 'text':
        this.#write(statement.text);
        return 'done';
      case 'output':
        this.#write(this.#text(statement.value, scope));
        return 'done';
      case 'if': {
        for (const { test, body } of statement.branches) {
          if (isTruthy(evaluate(test, scope))) return this.#run(body, scope);
        }
        return this.#run(statement.otherwise, scope);
      }
      case 'for':
        return this.#for(statement, scope);
      case 'set':
        assign(statement.target, evaluateMarked(statement.value, scope), scope);
        return 'done';
      case 'set-block': {
        const text = this.capture(statement.body, new Scope(scope));
        assign(statement.target, applyFilters(text, statement.filters, scope), scope);
        return 'done';
      }
      case 'macro': {
        const { name, signature, body } = statement;
        scope.set(name, this.#macro(name, signature, body, scope));
        return 'done';
      }
      case 'call-block':
        this.#callBlock(statement, scope);
        return 'done';
      case 'filter-block': {
        const text = this.capture(statement.body, new Scope(scope));
        this.#write(toText(applyFilters(text, statement.filters, scope)));
        return 'done';
      }
      case 'scope': {
        const inner = new Scope(scope);
        for (const [target, value] of statement.assignments)
          assign(target, evaluateMarked(value, scope), inner);
        return this.#run(statement.body, inner);
      }
      case 'break':
      case 'continue':
        return statement.kind;
    }
  }

  #text(expression: Expression, scope: Scope): string {
    try {
      return toText(evaluate(expression, scope));
    } catch (error) {
      if (error instanceof TemplateError) error.line ??= expression.line;
      throw error;
    }
  }

  #for(statement: Extract<Statement, { kind: 'for' }>, scope: Scope): Flow {
    const { target, filter, body, otherwise, line } = statement;
    let items: readonly Value[];
    try {
      items = iterate(evaluate(statement.iterable, scope));
    } catch (error) {
      if (error instanceof TemplateError) error.line ??= line;
      throw error;
    }
    if (filter !== null) {
      items = items.filter(item => {
        const inner = new Scope(scope);
        assign(target, item, inner);
        return isTruthy(evaluate(filter, inner));
      });
    }
    const loop = new LoopState(items);
    // As jinja2 compiles it: a body that was left by `break` or `continue` does not count.
    let hasFinished = false;
    for (let i = 0; i < items.length; i++) {
      countStep();
      loop.index0 = i;
      const inner = new Scope(scope);
      inner.set('loop', loop);
      assign(target, items[i]!, inner);
      const flow = this.#run(body, inner);
      if (flow === 'break') break;
      if (flow === 'done') hasFinished = true;
    }
    return hasFinished ? 'done' : this.#run(otherwise, new Scope(scope));
  }

  #callBlock(statement: Extract<Statement, { kind: 'call-block' }>, scope: Scope): void {
    const { signature, body, line } = statement;
    if (statement.call.kind !== 'call') throw new TemplateError('A call tag needs a call.', line);
    const { callee, args } = statement.call;
    const { positional, named } = evaluateArguments(args, scope);
    const caller = this.#macro('caller', signature, body, scope);
    const result = call(evaluate(callee, scope), {
      positional,
      named: new Map([...named, ['caller', caller]]),
    });
    this.#write(toText(result));
  }

  #macro(name: string, signature: MacroSignature, body: readonly Statement[], defined: Scope): Callable {
    const { parameters } = signature;
    const takesMore = mentionsName(body, 'varargs');
    const takesNames = mentionsName(body, 'kwargs');
    return new Callable(name, ({ positional, named }) => {
      const scope = new Scope(defined);
      if (positional.length > parameters.length && !takesMore)
        throw new TemplateError(`macro '${name}' takes not more than ${parameters.length} argument(s)`);
      const rest = new Map(named);
      const caller = rest.get('caller');
      if (caller !== undefined) scope.set('caller', caller);
      rest.delete('caller');
      for (const [i, parameter] of parameters.entries()) {
        const given = i < positional.length ? positional[i] : rest.get(parameter.name);
        if (i >= positional.length) rest.delete(parameter.name);
        if (given !== undefined) scope.set(parameter.name, given);
        else if (parameter.fallback !== null) scope.set(parameter.name, evaluate(parameter.fallback, scope));
        else scope.set(parameter.name, new Undefined(`parameter '${parameter.name}' was not provided`));
      }
      const [unknown] = rest.keys();
      if (unknown !== undefined && !takesNames)
        throw new TemplateError(`macro '${name}' takes no keyword argument '${unknown}'`);
      if (takesNames) scope.set('kwargs', rest);
      if (takesMore) scope.set('varargs', new Tuple(positional.slice(parameters.length)));
      if (++this.#callDepth > CALL_DEPTH_LIMIT) throw new TemplateError('Macros call each other too deeply.');
      const text = this.capture(body, scope);
      this.#callDepth--;
      return text;
    });
  }
}

function applyFilters(text: string, filters: readonly FilterCall[], scope: Scope): Value {
  let value: Value = text;
  for (const { name, args } of filters) value = applyFilter(name, value, evaluateArguments(args, scope));
  return value;
}

function assign(target: Target, marked: Marked, scope: Scope): void {
  const value = toPlain(marked);
  switch (target.kind) {
    case 'name':
      scope.set(target.name, marked);
      return;
    case 'namespace': {
      const object = scope.get(target.name);
      if (!(object instanceof Namespace)) {
        throw new TemplateError('cannot assign attribute on non-namespace object', target.line);
      }
      object.attributes.set(target.attribute, value);
      return;
    }
    case 'tuple': {
      const items = value instanceof Tuple ? value.items : iterate(value);
      if (items.length !== target.items.length) {
        throw new TemplateError(
          `expected ${target.items.length} values to unpack, got ${items.length}`,
          target.line,
        );
      }
      for (const [i, inner] of target.items.entries()) assign(inner, items[i]!, scope);
    }
  }
}
