// Tools for models whose chat template knows none: they are described in the messages, and past calls and their results
// become text of messages that every template has. The form of calls is that of the dialect `hermes`.

import { type JsonValue, printJson } from '@ortler/json';
import type { ChatMessage } from '../../request/chat-message.ts';

/** Messages without tools, calls or results. `functions`: as chat templates get them. */
export function writeTools(messages: readonly ChatMessage[], functions: readonly unknown[]): ChatMessage[] {
  const plain = mergeResults(messages.map(toPlainMessage));
  const described = describe(functions);
  const index = plain.findIndex(({ role }) => role === 'system' || role === 'developer');
  if (index !== -1) return plain.with(index, addText(plain[index]!, described, 'after'));
  // Not every template has a role for instructions.
  const first = plain.findIndex(({ role }) => role === 'user');
  if (first !== -1) return plain.with(first, addText(plain[first]!, described, 'before'));
  return [{ role: 'user', content: described }, ...plain];
}

function describe(functions: readonly unknown[]): string {
  return [
    'You can call functions to help with the request. These are the functions, as JSON, one on each line:',
    '<tools>',
    ...functions.map(print),
    '</tools>',
    'To call a function, write its name and arguments as JSON between these tags, and nothing after them:',
    '<tool_call>',
    // Small models copy example values, so there are none.
    '{"name": <name of the function>, "arguments": <its arguments as a JSON object>}',
    '</tool_call>',
  ].join('\n');
}

/** A message whose calls or result are text. */
function toPlainMessage(message: ChatMessage): ChatMessage {
  const { tool_calls: calls, tool_call_id: _, ...rest } = message;
  if (message.role === 'tool')
    return { role: 'user', content: `<tool_response>\n${textOf(message)}\n</tool_response>` };
  if (calls === undefined || calls.length === 0) return rest;
  const written = calls.map(
    ({ function: { name, arguments: values } }) =>
      `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${print(values)}}\n</tool_call>`,
  );
  const content = [textOf(message), ...written].filter(text => text !== '').join('\n');
  return { ...rest, content };
}

/** One message for results in a row, because many templates want users and assistants in turns. */
function mergeResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  const isResult = ({ role, content }: ChatMessage) =>
    role === 'user' && typeof content === 'string' && content.startsWith('<tool_response>');
  for (const message of messages) {
    const last = merged.at(-1);
    if (last !== undefined && isResult(message) && isResult(last))
      merged[merged.length - 1] = addText(last, textOf(message), 'after');
    else merged.push(message);
  }
  return merged;
}

function addText(message: ChatMessage, text: string, place: 'before' | 'after'): ChatMessage {
  const own = textOf(message);
  const parts = place === 'before' ? [text, own] : [own, text];
  return { ...message, content: parts.filter(part => part !== '').join('\n\n') };
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : content.map(part => part.text).join('\n');
}

const print = (value: unknown) => printJson(value as JsonValue);
