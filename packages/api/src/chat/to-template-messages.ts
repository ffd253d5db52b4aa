// Wire messages -> messages of the engine, which shows them to a chat template: text parts under one name, tool
// arguments parsed, nulls left out. How a template wants content and roles is the engine's business.

import type { ChatMessage, ChatContentPart as TextPart } from '@ortler/engine';
import { parseTypedJson } from '@ortler/json';
import type { ChatContentPart, ChatMessageToolCall, ChatMessage as WireMessage } from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';

/** Normalises a conversation. Throws: `invalid_parameter` for content that is not text. */
export function toTemplateMessages(messages: readonly WireMessage[]): ChatMessage[] {
  return messages.map(toTemplateMessage);
}

function toTemplateMessage(message: WireMessage, index: number): ChatMessage {
  const { role, content, name, tool_call_id: callId, tool_calls: calls } = message;
  const reasoning = message.reasoning ?? message.reasoning_content;
  return {
    role,
    content: Array.isArray(content)
      ? content.map((part, place) => toTextPart(part, `${index}.content.${place}`))
      : (content ?? ''),
    ...(name !== undefined && { name }),
    ...(callId != null && { tool_call_id: callId }),
    ...(calls?.length && { tool_calls: calls.map(withParsedArguments) }),
    ...(reasoning != null && { reasoning_content: reasoning }),
  };
}

function toTextPart(part: string | ChatContentPart, place: string): TextPart {
  return { type: 'text', text: textOf(part, place) };
}

function textOf(part: string | ChatContentPart, place: string): string {
  if (typeof part === 'string') return part;
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return part.text;
    case 'refusal':
      return part.refusal;
    case 'thinking':
      return part.thinking;
    default:
      throw new ApiError(
        'invalid_parameter',
        `messages.${place}: this model reads text only; got a part of type ${part.type}.`,
        { param: 'messages' },
      );
  }
}

// Templates print arguments as an object. Empty text and text that is not JSON become an empty one, as in the
// reference.
function withParsedArguments(call: ChatMessageToolCall) {
  return { ...call, function: { ...call.function, arguments: parseArguments(call.function.arguments) } };
}

function parseArguments(text: string): unknown {
  try {
    return parseTypedJson(text);
  } catch {
    return {};
  }
}
