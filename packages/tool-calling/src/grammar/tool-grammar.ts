// The grammar of an answer with tools, as a tree of nodes that @ortler/structured-output compiles: free text up to a trigger,
// then calls of known functions with arguments of their schemas, and then the end.

import type { TagNode } from '@ortler/structured-output';
import type { CallPart, CallRule, Tool, ToolDialect } from '../tool-dialect.ts';
import { harmonyGrammar } from './harmony-grammar.ts';
import { literalGrammar } from './literal-grammar.ts';
import { choice, regex, separatedCalls, sequence, text } from './nodes.ts';
import type { SchemaPart } from './schema-part.ts';
import { taggedGrammar } from './tagged-grammar.ts';

export interface ToolGrammarOptions {
  readonly dialect: ToolDialect;
  readonly tools: readonly Tool[];
  readonly rule: CallRule;
  /** What an answer without calls may be. Default: any text. */
  readonly answer?: TagNode;
  /** Place of the schema of a tool, for errors. */
  readonly placeOf: (tool: Tool) => string;
}

/** Throws: `ToolGrammarError` for a schema that the dialect cannot write. */
export function createToolGrammar(options: ToolGrammarOptions): TagNode {
  const { dialect, rule, answer } = options;
  const { trigger, section, call } = dialect;
  const [first] = call;
  const lead = section.open + (typeof first === 'object' ? first.text : '');
  const calls = allCalls(options);
  if (dialect.isChannelled) return harmonyGrammar({ lead, calls, answer, isForced: rule.choice !== 'auto' });
  const forced = sequence(text(lead), calls);
  if (rule.choice !== 'auto') return forced;
  if (answer !== undefined) return choice([forced, answer]);
  if (dialect.position === 'start')
    return choice([forced, { kind: 'other-text', beginnings: beginnings(options, lead) }]);
  const content = sequence(text(lead.slice(trigger.length)), calls);
  return {
    kind: 'triggered',
    triggers: [trigger],
    tags: [{ kind: 'tag', begin: trigger, content, ends: [''] }],
    needsOne: false,
    stopsAfterFirst: true,
  };
}

/**
 * The texts up to which the grammar allows everything, so that it may be left out before them. Null where it says something from
 * the first character on: a call is forced, the answer has a form of its own, or there are channels.
 */
export function findTriggers(options: ToolGrammarOptions): readonly string[] | null {
  const { dialect, rule, answer } = options;
  if (rule.choice !== 'auto' || answer !== undefined || dialect.isChannelled) return null;
  if (dialect.position === 'anywhere') return [dialect.trigger];
  const [first] = dialect.call;
  return beginnings(options, dialect.section.open + (typeof first === 'object' ? first.text : ''));
}

/** Everything after the lead of the first call. */
function allCalls(options: ToolGrammarOptions): TagNode {
  const { dialect, rule } = options;
  const { section, separator, call } = dialect;
  const [first, ...others] = call;
  const lead = typeof first === 'object' ? first.text : '';
  const parts = typeof first === 'object' ? others : call;
  const one = choice(calledTools(options).map(tool => sequence(...callNodes(options, tool, parts))));
  const isOne = typeof rule.choice === 'object' || !rule.isParallel || dialect.isSingle === true;
  return sequence(isOne ? one : separatedCalls(one, separator + lead), text(section.close));
}

function calledTools({ tools, rule: { choice: asked } }: ToolGrammarOptions): readonly Tool[] {
  return typeof asked === 'string' ? tools : tools.filter(({ name }) => name === asked.name);
}

function callNodes(options: ToolGrammarOptions, tool: Tool, parts: readonly CallPart[]): readonly TagNode[] {
  const { ids } = options.dialect;
  const place = options.placeOf(tool);
  const toNode = (part: CallPart): TagNode => {
    if (typeof part === 'object') return text(part.text);
    switch (part) {
      case 'name':
        return text(tool.name);
      case 'id':
        return regex(`[a-zA-Z0-9]{${ids.kind === 'random' ? ids.length : '1,64'}}`, place);
      case 'index':
        return regex('[0-9]{1,3}', place);
      case 'arguments':
        return argumentsNode(options.dialect, tool, place);
    }
  };
  return parts.map(toNode);
}

function argumentsNode(dialect: ToolDialect, { parameters, isStrict }: Tool, place: string): TagNode {
  const root = { type: 'object', ...parameters };
  const whole: SchemaPart = { schema: root, root, place, isStrict };
  switch (dialect.arguments.kind) {
    case 'json':
      return { kind: 'json', schema: root as never, place, isLenient: !isStrict };
    case 'tagged':
      return taggedGrammar(dialect.arguments, whole);
    case 'literals':
      return literalGrammar(dialect.arguments, whole);
  }
}

/** Beginnings of calls. Where a name comes first, a bracket alone may still begin a text. */
function beginnings({ dialect, tools }: ToolGrammarOptions, lead: string): readonly string[] {
  const [first, second] = dialect.call;
  if (first !== 'name') return [lead];
  return tools.map(({ name }) => lead + name + (typeof second === 'object' ? second.text : ''));
}
