// Past calls for chat templates that show the tools and no calls: they become text of their messages, as the model wrote them.

import { type ToolDialect, writeCalls } from '@ortler/tool-calling';
import type { ChatMessage } from '../../request/chat-message.ts';

/** Messages without calls. Results stay messages of their own, which such templates know. */
export function writePastCalls(messages: readonly ChatMessage[], dialect: ToolDialect): ChatMessage[] {
  return messages.map(message => {
    const { tool_calls: calls = [], ...rest } = message;
    if (calls.length === 0) return message;
    const written = writeCalls(
      dialect,
      calls.map(({ id, function: called }) => ({ ...called, ...(id !== undefined && { id }) })),
    );
    return { ...rest, content: withText(message.content, written) };
  });
}

function withText(content: ChatMessage['content'], written: string): ChatMessage['content'] {
  if (typeof content !== 'string') return [...content, { type: 'text', text: written }];
  return content === '' ? written : `${content}\n${written}`;
}
