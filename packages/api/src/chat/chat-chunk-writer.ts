// Engine events -> the chunks of a streamed chat completion. Which keys a chunk has follows the service this wire format
// comes from: `usage` and `stop_reason` are absent, not null, where they do not belong.

import type { GenerationEvent, PromptReadyEvent, ToolCallDelta } from '@ortler/engine';
import type { ChatChunk, ChatChunkToolCall, ChatCompletionRequest } from '@ortler/schemas';
import { toConstraintPosition } from '../generation/to-constraint-position.ts';
import { toFinishReason } from '../generation/to-finish-reason.ts';
import { readUsageMode, toUsage, toWholeUsage } from '../generation/to-usage.ts';
import { type ReplyDelta, type ReplyForm, toReplyDelta } from './reply-delta.ts';
import type { ReplyHeader } from './start-generation.ts';

type StreamRequest = Pick<
  ChatCompletionRequest,
  'n' | 'return_token_ids' | 'stream_options' | 'include_reasoning' | 'use_beam_search'
>;
type ChunkChoice = ChatChunk['choices'][number];

/**
 * Chunks in order: one role chunk per choice, the echoed text, then content chunks, one finish chunk per choice with
 * its last text, and the usage chunk when it was asked for.
 */
export class ChatChunkWriter {
  readonly #header: ReplyHeader;
  readonly #request: StreamRequest;
  readonly #form: ReplyForm;
  readonly #usageMode: ReturnType<typeof readUsageMode>;
  readonly #completionTokenCounts: number[];
  #promptTokenCount = 0;
  #reasoningTokenCount = 0;
  #unsentOpening: PromptReadyEvent | null = null;

  constructor(header: ReplyHeader, request: StreamRequest, form: ReplyForm) {
    this.#header = header;
    this.#request = request;
    this.#form = form;
    this.#usageMode = readUsageMode(request.stream_options);
    this.#completionTokenCounts = new Array<number>(request.n).fill(0);
  }

  /** The chunks of one event. Mutates: the writer; events are passed once and in order. */
  push(event: GenerationEvent): ChatChunk[] {
    switch (event.kind) {
      case 'prompt-ready':
        this.#promptTokenCount = event.promptTokenIds.length;
        if (!this.#request.use_beam_search) return this.#openingChunks(event);
        // A search has no output before its end; its role chunks come with the answers.
        this.#unsentOpening = event;
        return [];
      case 'token-delta': {
        const opening = this.#unsentOpening === null ? [] : this.#openingChunks(this.#unsentOpening);
        this.#unsentOpening = null;
        const delta = toReplyDelta(event, this.#form);
        if (delta.isReasoning) this.#reasoningTokenCount += delta.tokenCount;
        if (this.#form.hasMarks && !this.#isWorthAChunk(delta)) {
          this.#completionTokenCounts[delta.choiceIndex]! += delta.tokenCount;
          return opening;
        }
        return [...opening, ...toSingleCalls(delta).map(each => this.#deltaChunk(each))];
      }
      case 'request-finish': {
        if (this.#usageMode === 'none') return [];
        const reasoningTokenCount = this.#form.countsReasoning ? this.#reasoningTokenCount : null;
        return [this.#chunk([], toWholeUsage(event.usage, reasoningTokenCount))];
      }
    }
  }

  #openingChunks({ promptTokenIds }: PromptReadyEvent): ChatChunk[] {
    const { n, return_token_ids: withIds } = this.#request;
    const { role, echoedText } = this.#header;
    const ofEachChoice = (delta: ChunkChoice['delta']) =>
      Array.from({ length: n }, (_, index) =>
        this.#choiceChunk({ index, delta, logprobs: null, finish_reason: null }),
      );
    const roles = ofEachChoice({ role, content: '' }).map(
      // The prompt's ids are sent once, on the very first chunk of the stream.
      (chunk, index): ChatChunk => ({
        ...chunk,
        prompt_token_ids: withIds === true && index === 0 ? [...promptTokenIds] : null,
      }),
    );
    return echoedText === '' ? roles : [...roles, ...ofEachChoice({ content: echoedText })];
  }

  /** It has something for the caller: text, calls, tokens, log probabilities or the end. */
  #isWorthAChunk({ content, reasoning, toolCalls, tokenIds, logprobs, finish }: ReplyDelta): boolean {
    const hasText = content !== '' || (reasoning !== '' && this.#request.include_reasoning);
    return hasText || toolCalls.length > 0 || tokenIds !== null || logprobs !== null || finish !== null;
  }

  #deltaChunk(delta: ReplyDelta): ChatChunk {
    const { choiceIndex, tokenCount, logprobs, finish, tokenIds } = delta;
    this.#completionTokenCounts[choiceIndex]! += tokenCount;
    return this.#choiceChunk({
      index: choiceIndex,
      delta: this.#toWireDelta(delta),
      logprobs,
      finish_reason: finish === null ? null : toFinishReason(finish.reason),
      ...(finish !== null && { stop_reason: finish.stopReason }),
      ...toConstraintPosition(finish),
      token_ids: tokenIds === null ? null : [...tokenIds],
    });
  }

  #toWireDelta({ content, reasoning, toolCalls }: ReplyDelta): ChunkChoice['delta'] {
    return {
      ...(reasoning !== '' && this.#request.include_reasoning && { reasoning }),
      // Where nothing is taken out of the text, every chunk has some, if only an empty one.
      ...((content !== '' || !this.#form.hasMarks) && { content }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toWireToolCall) }),
    };
  }

  #choiceChunk(choice: ChunkChoice): ChatChunk {
    const completionTokenCount = this.#completionTokenCounts[choice.index]!;
    const usage = toUsage({ promptTokenCount: this.#promptTokenCount, completionTokenCount });
    return this.#chunk([choice], this.#usageMode === 'every-chunk' ? usage : undefined);
  }

  #chunk(choices: ChunkChoice[], usage: ChatChunk['usage']): ChatChunk {
    const { id, created, model } = this.#header;
    return { id, object: 'chat.completion.chunk', created, model, choices, ...(usage && { usage }) };
  }
}

/** Deltas with at most one tool call each, because clients read only the first of a chunk, as OpenAI sends them. */
function toSingleCalls(delta: ReplyDelta): ReplyDelta[] {
  const { toolCalls } = delta;
  if (toolCalls.length < 2) return [delta];
  return toolCalls.map((call, index) => {
    const finish = index === toolCalls.length - 1 ? delta.finish : null;
    if (index === 0) return { ...delta, toolCalls: [call], finish };
    const tokenIds = delta.tokenIds === null ? null : [];
    const nothing = { content: '', reasoning: '', tokenCount: 0, tokenIds, logprobs: null };
    return { ...delta, ...nothing, toolCalls: [call], finish };
  });
}

function toWireToolCall({ index, start, arguments: args }: ToolCallDelta): ChatChunkToolCall {
  if (start === undefined) return { index, function: { arguments: args } };
  return { index, id: start.id, type: 'function', function: { name: start.name, arguments: args } };
}
