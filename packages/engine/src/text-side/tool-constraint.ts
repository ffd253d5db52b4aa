// The constraint of a request with tools: calls of its functions, or an answer, which its own constraint is about.

import type { ConstraintSpec, TagConstraint, TagNode } from '@ortler/structured-output';
import { createToolGrammar, findTriggers, ToolGrammarError } from '@ortler/tool-calling';
import { EngineError } from '../errors.ts';
import type { SubmittedTriggers } from '../protocol/messages.ts';
import type { GenerationRequest } from '../request/generation-request.ts';
import { wrongParameter } from '../request/parameter-checks.ts';
import type { RequestTools } from './request-tools.ts';

export interface ToolConstraint {
  readonly spec: TagConstraint;
  /** The answer is free up to them; undefined where it never is. */
  readonly triggers: SubmittedTriggers | undefined;
}

/**
 * Throws: `invalid_request` for a schema that the model's calls cannot have, or a constraint that cannot be
 * combined with calls.
 */
export function toToolConstraint(
  { dialect, tools, choice, parallel, style: ofCalls }: RequestTools,
  { constraint }: Pick<GenerationRequest, 'constraint'>,
): ToolConstraint {
  const answer = constraint === undefined ? undefined : toAnswerNode(constraint);
  const placeOf = (tool: (typeof tools)[number]) => `tools.definitions[${tools.indexOf(tool)}].parameters`;
  const style = constraint !== undefined && 'style' in constraint ? constraint.style : ofCalls;
  try {
    const options = {
      dialect,
      tools,
      rule: { choice, isParallel: parallel },
      placeOf,
      ...(answer !== undefined && { answer }),
    };
    const texts = findTriggers(options)?.map(text => new TextEncoder().encode(text));
    return {
      // A model must not make up arguments that the schema does not name.
      spec: { tag: createToolGrammar(options), style: { ...style, closeObjects: true } },
      triggers: texts === undefined ? undefined : { texts, position: dialect.position },
    };
  } catch (error) {
    if (!(error instanceof ToolGrammarError)) throw error;
    throw new EngineError('invalid_request', error.message, {
      parameter: findPlace(error.message),
      cause: error,
    });
  }
}

/** The parameter that a fault of the whole constraint belongs to: the message ends with its place. */
export function findPlace(message: string): string {
  const place = /\(at ((?:tools\.definitions\[\d+\]\.parameters|constraint)\b)/.exec(message)?.[1];
  return place ?? 'tools';
}

function toAnswerNode(constraint: ConstraintSpec): TagNode {
  const place = 'constraint';
  if ('jsonSchema' in constraint) return { kind: 'json', schema: readSchema(constraint.jsonSchema), place };
  if ('jsonObject' in constraint) return { kind: 'json', schema: { type: 'object' }, place };
  if ('regex' in constraint) return { kind: 'regex', pattern: constraint.regex, place };
  if ('choice' in constraint)
    return { kind: 'choice', items: constraint.choice.map(text => ({ kind: 'text', text })) };
  if ('grammar' in constraint) return { kind: 'grammar', text: constraint.grammar, place };
  throw wrongParameter(
    'constraint',
    'A structural tag cannot be combined with tools: leave one of them out.',
  );
}

function readSchema(schema: unknown): never {
  if (typeof schema !== 'string') return schema as never;
  try {
    return JSON.parse(schema) as never;
  } catch (cause) {
    throw new EngineError('invalid_request', 'The JSON Schema is not JSON.', {
      parameter: 'constraint',
      cause,
    });
  }
}
