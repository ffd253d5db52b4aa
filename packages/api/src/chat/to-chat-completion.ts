// Engine events -> the whole reply of a chat completion. Every field of the wire is present, with null where this
// server has nothing to say, because clients and their types expect the keys.

import type { GenerationEvent, TokenUsage } from '@ortler/engine';
import type { ChatCompletion, ChatCompletionRequest } from '@ortler/schemas';
import type { ReplyHeader } from './start-generation.ts';
import { toUsage } from './to-usage.ts';

type Choice = ChatCompletion['choices'][number];

interface OpenChoice {
  text: string;
  readonly tokenIds: number[];
  finishReason: Choice['finish_reason'];
  stopReason: string | number | null;
}

/** Reads all events and builds the body. Throws: whatever the events throw. */
export async function toChatCompletion(
  header: ReplyHeader,
  events: AsyncIterable<GenerationEvent>,
  request: Pick<ChatCompletionRequest, 'n' | 'return_token_ids'>,
): Promise<ChatCompletion> {
  const choices: OpenChoice[] = Array.from({ length: request.n }, () => ({
    text: '',
    tokenIds: [],
    finishReason: 'stop',
    stopReason: null,
  }));
  let promptTokenIds: readonly number[] = [];
  let usage: TokenUsage | undefined;
  for await (const event of events) {
    if (event.kind === 'prompt-ready') {
      promptTokenIds = event.promptTokenIds;
    } else if (event.kind === 'request-finish') {
      usage = event.usage;
    } else {
      const choice = choices[event.choiceIndex]!;
      choice.text += event.text;
      choice.tokenIds.push(...event.tokenIds);
      if (event.kind === 'choice-finish') {
        choice.finishReason = event.finishReason;
        choice.stopReason = event.stopReason;
      }
    }
  }
  if (usage === undefined) throw new Error('The engine ended a generation without its usage.');
  const withIds = request.return_token_ids === true;
  return {
    id: header.id,
    object: 'chat.completion',
    created: header.created,
    model: header.model,
    choices: choices.map((choice, index) => toChoice(choice, index, header.role, withIds)),
    service_tier: null,
    system_fingerprint: null,
    usage: { ...toUsage(usage), prompt_tokens_details: { cached_tokens: usage.cachedTokenCount } },
    prompt_logprobs: null,
    prompt_token_ids: withIds ? [...promptTokenIds] : null,
    kv_transfer_params: null,
  };
}

function toChoice(choice: OpenChoice, index: number, role: string, withIds: boolean): Choice {
  return {
    index,
    message: {
      role,
      content: choice.text,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: [],
      reasoning: null,
    },
    logprobs: null,
    finish_reason: choice.finishReason,
    stop_reason: choice.stopReason,
    token_ids: withIds ? choice.tokenIds : null,
  };
}
