// Reads the text of one choice: reasoning, tool calls and the rest, which is the answer.

import { randomBytes } from 'node:crypto';
import { ToolCallParser } from '@ortler/tool-calling';
import type { ToolCallDelta } from '../request/generation-event.ts';
import { createSplitter, type RequestReasoning, splitDelta } from './request-reasoning.ts';
import type { RequestTools } from './request-tools.ts';

export interface ReadText {
  readonly reasoning: string;
  readonly answer: string;
  readonly toolCalls: readonly ToolCallDelta[];
}

export interface AnswerReader {
  /** With the last text, held-back text is released. */
  read(text: string, { isLast }: { readonly isLast: boolean }): ReadText;
  readonly isReasoning: boolean;
  /** The answer may have reasoning. */
  readonly canReason: boolean;
  /** The choice has a call, and the last one is complete. */
  readonly hasCalled: boolean;
}

export function createAnswerReader(
  reasoning: RequestReasoning | null,
  requestTools: RequestTools | null,
): AnswerReader {
  const splitter = createSplitter(reasoning);
  const canReason = reasoning !== null;
  if (requestTools === null)
    return {
      read: (text, end) => ({ ...splitDelta(splitter, text, end), toolCalls: [] }),
      get isReasoning() {
        return splitter.isReasoning;
      },
      canReason,
      hasCalled: false,
    };
  const { dialect, tools } = requestTools;
  const parser = new ToolCallParser({ dialect, tools, randomText });
  const parse = (text: string, { isLast }: { readonly isLast: boolean }) => {
    const now = parser.push(text);
    if (!isLast) return now;
    const rest = parser.finish();
    return { text: now.text + rest.text, calls: [...now.calls, ...rest.calls] };
  };
  return {
    read(text, end) {
      if (dialect.isChannelled) {
        // The headers of messages say which ones are calls, and the splitter would take them away.
        const { text: others, calls } = parse(text, end);
        return { ...splitDelta(splitter, others, end), toolCalls: calls };
      }
      const { reasoning: thought, answer } = splitDelta(splitter, text, end);
      const { text: rest, calls } = parse(answer, end);
      return { reasoning: thought, answer: rest, toolCalls: calls };
    },
    get isReasoning() {
      return splitter.isReasoning;
    },
    canReason,
    get hasCalled() {
      return parser.callCount > 0 && !parser.isInCall;
    },
  };
}

const ID_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

function randomText(length: number): string {
  return Array.from(randomBytes(length), byte => ID_CHARACTERS[byte % ID_CHARACTERS.length]).join('');
}
