// Events of a reply -> the chunks of a streamed chat completion. Which keys a chunk has follows the service this wire
// format comes from: `usage` and `stop_reason` are absent, not null, where they do not belong.

import type { ChatChunk, ChatCompletionRequest } from '@ortler/schemas';
import type { ReplyDelta, ReplyEvent } from './reply-events.ts';
import type { ReplyHeader } from './start-generation.ts';
import { toUsage } from './to-usage.ts';

type StreamRequest = Pick<
  ChatCompletionRequest,
  'n' | 'return_token_ids' | 'stream_options' | 'include_reasoning' | 'use_beam_search'
>;
type ChunkChoice = ChatChunk['choices'][number];
type PromptReady = Extract<ReplyEvent, { readonly kind: 'prompt-ready' }>;

/**
 * Chunks in order: one role chunk per choice, the echoed text, then content chunks, one finish chunk per choice with
 * its last text, and the usage chunk when it was asked for. Throws: whatever the events throw.
 */
export async function* toChatChunks(
  header: ReplyHeader,
  events: AsyncIterable<ReplyEvent>,
  request: StreamRequest,
): AsyncGenerator<ChatChunk, void, undefined> {
  const usageMode = readUsageMode(request.stream_options);
  const completionTokenCounts = new Array<number>(request.n).fill(0);
  let promptTokenCount = 0;
  let unsentOpening: PromptReady | null = null;

  const toChunk = (choices: readonly ChunkChoice[], usage: ChatChunk['usage']): ChatChunk => ({
    id: header.id,
    object: 'chat.completion.chunk',
    created: header.created,
    model: header.model,
    choices: [...choices],
    ...(usage && { usage }),
  });
  const toChoiceChunk = (choice: ChunkChoice): ChatChunk => {
    const completionTokenCount = completionTokenCounts[choice.index]!;
    const usage = toUsage({ promptTokenCount, completionTokenCount });
    return toChunk([choice], usageMode === 'every-chunk' ? usage : undefined);
  };
  function* toOpening({ promptTokenIds }: PromptReady): Generator<ChatChunk> {
    for (let index = 0; index < request.n; index++) {
      const delta = { role: header.role, content: '' };
      // The prompt's ids are sent once, on the very first chunk of the stream.
      const withIds = request.return_token_ids === true && index === 0;
      yield {
        ...toChoiceChunk({ index, delta, logprobs: null, finish_reason: null }),
        prompt_token_ids: withIds ? [...promptTokenIds] : null,
      };
    }
    if (header.echoedText === '') return;
    const delta = { content: header.echoedText };
    for (let index = 0; index < request.n; index++)
      yield toChoiceChunk({ index, delta, logprobs: null, finish_reason: null });
  }

  for await (const event of events) {
    if (event.kind === 'prompt-ready') {
      promptTokenCount = event.promptTokenIds.length;
      // A search has nothing to say before its end; its role chunks come with the answers.
      if (request.use_beam_search) unsentOpening = event;
      else yield* toOpening(event);
    } else if (event.kind === 'request-finish') {
      if (usageMode === 'none') continue;
      const details = { prompt_tokens_details: { cached_tokens: event.usage.cachedTokenCount } };
      yield toChunk([], { ...toUsage(event.usage), ...details });
    } else {
      if (unsentOpening !== null) yield* toOpening(unsentOpening);
      unsentOpening = null;
      completionTokenCounts[event.choiceIndex]! += event.tokenCount;
      yield toChoiceChunk({
        index: event.choiceIndex,
        delta: toDelta(event, request.include_reasoning),
        logprobs: event.logprobs,
        finish_reason: event.finish?.reason ?? null,
        ...(event.finish !== null && { stop_reason: event.finish.stopReason }),
        token_ids: event.tokenIds === null ? null : [...event.tokenIds],
      });
    }
  }
}

// A chunk speaks of the part it belongs to, also when it has no text; at the border it has both.
function toDelta(
  { content, reasoning, isThinking }: ReplyDelta,
  withReasoning: boolean,
): ChunkChoice['delta'] {
  if (!withReasoning || (reasoning === '' && !(isThinking && content === ''))) return { content };
  return content === '' ? { reasoning } : { reasoning, content };
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
