// Wire messages -> messages as a chat template sees them: plain text content, parsed tool arguments, known roles.

import type { ChatMessage } from '@ortler/engine';
import type { ChatContentPart, ChatMessageToolCall, ChatMessage as WireMessage } from '@ortler/schemas';
import { ApiError } from '../errors.ts';

/** Normalises a conversation. Throws: `invalid_parameter` for content that is not text. */
export function toTemplateMessages(messages: readonly WireMessage[]): ChatMessage[] {
  return messages.map(toTemplateMessage);
}

function toTemplateMessage(message: WireMessage, index: number): ChatMessage {
  const { role, content, name, tool_call_id: callId, tool_calls: calls } = message;
  const reasoning = message.reasoning ?? message.reasoning_content;
  return {
    // Developer messages take the place of system messages; templates know the older word.
    role: role === 'developer' ? 'system' : role,
    content: toText(content, index),
    ...(name !== undefined && { name }),
    ...(callId != null && { tool_call_id: callId }),
    ...(calls?.length && { tool_calls: calls.map(withParsedArguments) }),
    ...(reasoning != null && { reasoning_content: reasoning }),
  };
}

// Parts are joined with a newline, as the reference does for templates that want strings.
function toText(content: WireMessage['content'], index: number): string {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  return content.map((part, place) => partText(part, `${index}.content.${place}`)).join('\n');
}

function partText(part: string | ChatContentPart, place: string): string {
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

// Templates print arguments as an object. Text that is not a JSON object becomes an empty one, as in the reference.
function withParsedArguments(call: ChatMessageToolCall) {
  return { ...call, function: { ...call.function, arguments: parseArguments(call.function.arguments) } };
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
