// A prompt of the AI SDK -> messages of a chat template. Models read text only: other parts are refused by name.

import {
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4TextPart,
  type LanguageModelV4ToolResultOutput,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { ChatMessage } from '@ortler/engine';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;
type Part = (AssistantMessage | UserMessage)['content'][number];

/** Throws: `UnsupportedFunctionalityError` for files, and for tools that a provider runs. */
export function toChatMessages(prompt: LanguageModelV4Prompt): ChatMessage[] {
  return prompt.flatMap(toMessagesOf);
}

function toMessagesOf(message: LanguageModelV4Message): ChatMessage | ChatMessage[] {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toContent(message.content.map(toTextPart)) };
    case 'assistant':
      return toAssistantMessage(message.content);
    case 'tool':
      return message.content.map(toToolMessage);
  }
}

/** Reasoning goes where templates that show it look for it. */
function toAssistantMessage(parts: AssistantMessage['content']): ChatMessage {
  const reasoning = parts.filter(part => part.type === 'reasoning').map(part => part.text);
  const calls = parts.filter(part => part.type === 'tool-call');
  if (calls.some(({ providerExecuted }) => providerExecuted))
    throw unsupported('tool calls that a provider runs', 'calls are run by the program');
  const texts = parts.filter(part => part.type !== 'reasoning' && part.type !== 'tool-call').map(toTextPart);
  return {
    role: 'assistant',
    // Parts of one answer belong together, whereas those of a user may be separate documents.
    content: texts.map(({ text }) => text).join(''),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ toolCallId: id, toolName: name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      })),
    }),
  };
}

function toToolMessage(part: ToolMessage['content'][number]): ChatMessage {
  if (part.type !== 'tool-result')
    throw unsupported(`${part.type} parts`, 'calls that wait for an approval are run by the program');
  const { toolCallId, toolName, output } = part;
  return { role: 'tool', tool_call_id: toolCallId, name: toolName, content: toResultText(output) };
}

function toResultText(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'The execution of the tool was denied.';
    case 'content':
      return output.value
        .map(part => {
          if (part.type === 'text') return part.text;
          throw unsupported(`${part.type} parts of tool results`, 'this model reads text only');
        })
        .join('\n');
  }
}

/** A single text stays a text: some templates ask. */
function toContent(parts: readonly LanguageModelV4TextPart[]): ChatMessage['content'] {
  return parts.length === 1 ? parts[0]!.text : parts.map(({ text }) => ({ type: 'text', text }));
}

function toTextPart(part: Part): LanguageModelV4TextPart {
  switch (part.type) {
    case 'text':
      return part;
    case 'file':
    case 'reasoning-file':
      throw unsupported(`file parts (${part.mediaType})`, 'this model reads text only');
    case 'tool-result':
      throw unsupported('tool results of an assistant', 'calls are run by the program');
    default:
      throw unsupported(`${part.type} parts`, 'this model reads text only');
  }
}

function unsupported(functionality: string, reason: string): UnsupportedFunctionalityError {
  const message = `${functionality} are not supported: ${reason}.`;
  return new UnsupportedFunctionalityError({ functionality, message });
}
