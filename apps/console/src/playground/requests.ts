// From the playground's state to the requests that it sends. Pure.

import type { ChatCompletionRequestInput, CompletionRequestInput } from '@ortler/schemas';
import { toFormatFields } from './answer-format.ts';
import { isUnanswered, type Turn } from './conversation.ts';
import { readParameters } from './parameters.ts';
import type { Settings } from './saved-playground.ts';
import { readTools } from './tool-list.ts';

/** The chat that is to follow these turns. */
export function toChatRequest(settings: Settings, turns: readonly Turn[]): ChatCompletionRequestInput {
  const { model, system, showHeat, candidateCount } = settings;
  const format = toFormatFields(settings.format);
  return {
    ...(model !== '' && { model }),
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...toMessages(turns),
    ],
    ...readParameters(settings.parameters, 'chat').fields,
    ...('fields' in format && format.fields),
    ...readTools(settings.tools).fields,
    ...(showHeat && { logprobs: true, top_logprobs: candidateCount, return_token_ids: true }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** The messages of these turns. An answer that failed or was stopped before its first text is none: the model never said it. */
export function toMessages(turns: readonly Turn[]): ChatCompletionRequestInput['messages'] {
  return turns.filter(turn => !isUnanswered(turn)).map(toMessage);
}

function toMessage({
  role,
  content,
  answer,
  toolCallId,
}: Turn): ChatCompletionRequestInput['messages'][number] {
  if (role === 'tool') return { role, content, tool_call_id: toolCallId ?? '' };
  if (role === 'user') return { role, content };
  const calls = answer?.toolCalls ?? [];
  return {
    role,
    content: calls.length > 0 && content === '' ? null : content,
    ...(answer !== undefined && answer.reasoning !== '' && { reasoning: answer.reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(call => ({
        id: call.id,
        type: 'function' as const,
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
  };
}

/** The completion of a text, or of exact tokens. */
export function toCompletionRequest(
  settings: Settings,
  prompt: string | readonly number[],
): CompletionRequestInput {
  const { model, showHeat, candidateCount } = settings;
  return {
    ...(model !== '' && { model }),
    prompt: typeof prompt === 'string' ? prompt : [...prompt],
    ...readParameters(settings.parameters, 'completion').fields,
    ...(showHeat && { logprobs: candidateCount, return_token_ids: true }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** What goes on from a candidate is one answer, whatever the request asked for. */
export const ONE_CONTINUATION = { n: 1, use_beam_search: false } as const;

/** `max_tokens` of a completion that goes on with a chat: what the chat was given, or the rest of the context. */
export function chatLengthOf(settings: Settings, promptLength: number, contextLength: number): number {
  const wanted = readParameters(settings.parameters, 'chat').fields.max_completion_tokens;
  return typeof wanted === 'number' ? wanted : contextLength - promptLength;
}
