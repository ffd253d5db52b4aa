// Whether a parser of this dialect reads the calls that a chat template renders.

import { ToolCallParser } from '../parser/tool-call-parser.ts';
import type { ToolDialect } from '../tool-dialect.ts';
import { FIRST, ID_PLACE, type RenderConversation, renderCalls, SECOND } from './probe-conversation.ts';

const parameters = { type: 'object', properties: { first_key: { type: 'string' } } };
const TOOLS = [FIRST, SECOND].map(name => ({ name, parameters, isStrict: false }));

/** Three calls of one answer, where there may be several: numbers that a template counts for its calls differ in them. */
export function readsCallsBack(render: RenderConversation, dialect: ToolDialect): boolean {
  const names = dialect.isSingle === true ? [FIRST] : [FIRST, SECOND, FIRST];
  const values = names.map((_, index) => ({ first_key: `value ${index}` }));
  const calls = names.map((name, index) => ({ name, arguments: values[index]! }));
  const text = renderCalls(render, calls)?.replaceAll(ID_PLACE, 'probeid01');
  if (text === undefined) return false;
  const parser = new ToolCallParser({ dialect, tools: TOOLS, randomText: length => 'x'.repeat(length) });
  const deltas = [parser.push(text), parser.finish()].flatMap(parsed => parsed.calls);
  return names.every((name, index) => {
    const own = deltas.filter(delta => delta.index === index);
    const json = own.map(delta => delta.arguments).join('');
    return own[0]?.start?.name === name && isJsonOf(json, values[index]);
  });
}

function isJsonOf(json: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(json)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
