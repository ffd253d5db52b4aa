// Items of POST /v1/responses -> messages of a chat. What one answer gave as several items (reasoning, a message, calls)
// becomes one message of the assistant again, as chat templates expect.

import type { ChatMessage, ResponseInputItem, ResponseInputPart } from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';

type AssistantMessage = Pick<ChatMessage, 'role' | 'content' | 'reasoning' | 'tool_calls'>;

/**
 * The conversation, the instructions first. Stored items in `items` are resolved already.
 * @param history Items of the responses before this one.
 * Throws: `invalid_parameter` for content that is not text and for the output of a call that is not there.
 */
export function toConversation(
  instructions: string | null | undefined,
  history: readonly ResponseInputItem[],
  items: readonly ResponseInputItem[],
): ChatMessage[] {
  const messages: ChatMessage[] = instructions == null ? [] : [{ role: 'system', content: instructions }];
  /** The message of the assistant that further items of the same answer complete. */
  let open: AssistantMessage | null = null;
  const callIds = new Set<string>();
  for (const [index, item] of [...history, ...items].entries()) {
    const place = `input.${index - history.length}`;
    if (item.type === 'function_call') callIds.add(item.call_id);
    if (item.type === 'function_call_output' && index >= history.length && !callIds.has(item.call_id))
      throw withoutCall(item.call_id, place);
    const message = toMessage(item, open, place);
    if (message !== open) messages.push(message);
    open = message.role === 'assistant' ? message : null;
  }
  return messages;
}

/** A new message, or `open` when the item belongs to it. Mutates: `open`. */
function toMessage(item: ResponseInputItem, open: AssistantMessage | null, place: string): ChatMessage {
  switch (item.type) {
    case 'message': {
      const { role } = item;
      const content = toText(item.content, `${place}.content`);
      // Reasoning comes before the text it led to; two texts are two messages.
      if (role !== 'assistant' || open === null || open.content != null || open.tool_calls != null)
        return { role, content };
      open.content = content;
      return open;
    }
    case 'reasoning': {
      const parts = item.content?.length ? item.content : (item.summary ?? []);
      return { role: 'assistant', content: null, reasoning: parts.map(({ text }) => text).join('\n\n') };
    }
    case 'function_call': {
      const message = open ?? { role: 'assistant', content: null };
      const { call_id: id, name, arguments: args } = item;
      message.tool_calls = [
        ...(message.tool_calls ?? []),
        { id, type: 'function', function: { name, arguments: args } },
      ];
      return message;
    }
    case 'function_call_output': {
      const content = toText(item.output, `${place}.output`);
      return { role: 'tool', content, tool_call_id: item.call_id };
    }
    case 'item_reference':
      throw new Error(`The reference to the item ${item.id} was not resolved.`);
  }
}

/** A request that forgot `previous_response_id` would else get an answer to nothing but the output. */
function withoutCall(callId: string, place: string): ApiError {
  return new ApiError(
    'invalid_parameter',
    `${place}: no tool call found for function call output with call_id ${JSON.stringify(callId.slice(0, 100))}. ` +
      'Send the function_call item before it, or the previous_response_id of the response that made the call.',
    { param: place },
  );
}

function toText(content: string | readonly ResponseInputPart[], place: string): string {
  if (typeof content === 'string') return content;
  return content.map((part, index) => textOf(part, `${place}.${index}`)).join('\n');
}

function textOf(part: ResponseInputPart, place: string): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return part.text;
    case 'refusal':
      return part.refusal;
    default:
      throw new ApiError(
        'invalid_parameter',
        `${place}: this model reads text only; got a part of type ${part.type}.`,
        { param: place },
      );
  }
}
