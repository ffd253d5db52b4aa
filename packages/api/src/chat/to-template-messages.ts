// Wire messages -> messages as a chat template sees them: plain text content, parsed tool arguments, known roles.

import type { ChatMessage } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';
import { ApiError } from '../errors.ts';

type WireMessage = ChatCompletionRequest['messages'][number];

/** Normalises a conversation. Throws: `invalid_parameter` for content that is not text. */
export function toTemplateMessages(messages: readonly WireMessage[]): ChatMessage[] {
  return messages.map(toTemplateMessage);
}

function toTemplateMessage(message: WireMessage, index: number): ChatMessage {
  const fields = message as Readonly<Record<string, unknown>>;
  const reasoning = fields.reasoning ?? fields.reasoning_content;
  const toolCalls = fields.tool_calls;
  return {
    // Developer messages take the place of system messages; templates know the older word.
    role: message.role === 'developer' ? 'system' : message.role,
    content: toText(fields.content, index),
    ...(typeof fields.name === 'string' && { name: fields.name }),
    ...(typeof fields.tool_call_id === 'string' && { tool_call_id: fields.tool_call_id }),
    ...(Array.isArray(toolCalls) && toolCalls.length > 0 && { tool_calls: toolCalls.map(withParsedArguments) }),
    ...(typeof reasoning === 'string' && { reasoning_content: reasoning }),
  };
}

// Parts are joined with a newline, as the reference does for templates that want strings.
function toText(content: unknown, index: number): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return (content as readonly unknown[]).map((part, place) => partText(part, `${index}.content.${place}`)).join('\n');
}

function partText(part: unknown, place: string): string {
  if (typeof part === 'string') return part;
  const fields = part as Readonly<Record<string, unknown>>;
  switch (fields.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return String(fields.text);
    case 'refusal':
      return String(fields.refusal);
    case 'thinking':
      return String(fields.thinking);
    default:
      throw new ApiError(
        'invalid_parameter',
        `messages.${place}: this model reads text only; got a part of type ${String(fields.type)}.`,
        { param: 'messages' },
      );
  }
}

// Templates print arguments as an object. Text that is not JSON becomes an empty one, as in the reference.
function withParsedArguments(call: unknown): unknown {
  if (typeof call !== 'object' || call === null || !('function' in call)) return call;
  const target = call.function as Readonly<Record<string, unknown>>;
  return { ...call, function: { ...target, arguments: parseArguments(target.arguments) } };
}

function parseArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text ?? {};
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
