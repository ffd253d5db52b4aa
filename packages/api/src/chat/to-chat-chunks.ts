// Engine events -> the chunks of a streamed chat completion. Which keys a chunk has follows the service this wire
// format comes from: `usage` and `stop_reason` are absent, not null, where they do not belong.

import type { GenerationEvent } from '@ortler/engine';
import type { ChatChunk, ChatCompletionRequest } from '@ortler/schemas';
import type { ReplyHeader } from './start-generation.ts';
import { toUsage } from './to-usage.ts';

type StreamRequest = Pick<ChatCompletionRequest, 'n' | 'return_token_ids' | 'stream_options'>;
type ChunkChoice = ChatChunk['choices'][number];

/**
 * Chunks in order: one role chunk per choice, then content chunks, one finish chunk per choice with its last text,
 * and the usage chunk when it was asked for. Throws: whatever the events throw.
 */
export async function* toChatChunks(
  header: ReplyHeader,
  events: AsyncIterable<GenerationEvent>,
  request: StreamRequest,
): AsyncGenerator<ChatChunk, void, undefined> {
  const choiceCount = request.n;
  const withIds = request.return_token_ids === true;
  const usageMode = readUsageMode(request.stream_options);
  const completionTokenCounts = new Array<number>(choiceCount).fill(0);
  let promptTokenCount = 0;

  const toChunk = (choice: ChunkChoice): ChatChunk => ({
    id: header.id,
    object: 'chat.completion.chunk',
    created: header.created,
    model: header.model,
    choices: [choice],
    ...(usageMode === 'every-chunk' && {
      usage: toUsage({ promptTokenCount, completionTokenCount: completionTokenCounts[choice.index]! }),
    }),
  });

  for await (const event of events) {
    if (event.kind === 'prompt-ready') {
      promptTokenCount = event.promptTokenIds.length;
      for (let index = 0; index < choiceCount; index++) {
        const delta = { role: header.role, content: '' };
        // The prompt's ids are sent once, on the very first chunk of the stream.
        const promptTokenIds = withIds && index === 0 ? [...event.promptTokenIds] : null;
        yield {
          ...toChunk({ index, delta, logprobs: null, finish_reason: null }),
          prompt_token_ids: promptTokenIds,
        };
      }
    } else if (event.kind === 'request-finish') {
      if (usageMode === 'none') continue;
      yield {
        id: header.id,
        object: 'chat.completion.chunk',
        created: header.created,
        model: header.model,
        choices: [],
        usage: {
          ...toUsage(event.usage),
          prompt_tokens_details: { cached_tokens: event.usage.cachedTokenCount },
        },
      };
    } else {
      completionTokenCounts[event.choiceIndex]! += event.tokenIds.length;
      yield toChunk({
        index: event.choiceIndex,
        delta: { content: event.text },
        logprobs: null,
        finish_reason: event.kind === 'choice-finish' ? event.finishReason : null,
        ...(event.kind === 'choice-finish' && { stop_reason: event.stopReason }),
        token_ids: withIds ? [...event.tokenIds] : null,
      });
    }
  }
}

/**
 * Which chunks carry usage. `continuous_usage_stats` asks for usage even when `include_usage` is left out, but not
 * against an explicit false.
 */
export function readUsageMode(options: StreamRequest['stream_options']): 'none' | 'at-end' | 'every-chunk' {
  const continuous = options?.continuous_usage_stats === true;
  const included = options?.include_usage ?? continuous;
  if (!included) return 'none';
  return continuous ? 'every-chunk' : 'at-end';
}
