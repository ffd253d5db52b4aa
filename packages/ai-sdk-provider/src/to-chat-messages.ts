// A prompt of the AI SDK -> messages of a chat template. Models read text only, and have no tool calling: other parts are
// refused by name.

import {
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4TextPart,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { ChatMessage } from '@ortler/engine';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;
type Part = (AssistantMessage | UserMessage)['content'][number];

/** Throws: `UnsupportedFunctionalityError` for files and tools. */
export function toChatMessages(prompt: LanguageModelV4Prompt): ChatMessage[] {
  return prompt.map(toChatMessage);
}

function toChatMessage(message: LanguageModelV4Message): ChatMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toContent(message.content.map(toTextPart)) };
    case 'assistant':
      return toAssistantMessage(message.content);
    case 'tool':
      throw unsupported('tool messages', 'the engine has no tool calling');
  }
}

/** Reasoning goes where templates that show it look for it. */
function toAssistantMessage(parts: AssistantMessage['content']): ChatMessage {
  const reasoning = parts.filter(part => part.type === 'reasoning').map(part => part.text);
  const texts = parts.filter(part => part.type !== 'reasoning').map(toTextPart);
  return {
    role: 'assistant',
    // Parts of one answer belong together, whereas those of a user may be separate documents.
    content: texts.map(({ text }) => text).join(''),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
  };
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
    case 'tool-call':
    case 'tool-result':
      throw unsupported(`${part.type} parts`, 'the engine has no tool calling');
    default:
      throw unsupported(`${part.type} parts`, 'this model reads text only');
  }
}

function unsupported(functionality: string, reason: string): UnsupportedFunctionalityError {
  const message = `${functionality} are not supported: ${reason}.`;
  return new UnsupportedFunctionalityError({ functionality, message });
}
