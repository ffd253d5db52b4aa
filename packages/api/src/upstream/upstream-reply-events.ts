// Chunks of a chat at an upstream server -> the events of a reply with one choice, for endpoints that write answers of their own.

import type { ToolCallDelta } from '@ortler/engine';
import type { ChoiceLogprobs } from '@ortler/schemas';
import type { ReplyDelta } from '../chat/reply-delta.ts';
import type { ReplyEvent } from '../chat/reply-event.ts';
import type { EventSource } from '../generation/closing-stream.ts';
import type { ReplyFinish } from '../generation/to-finish-reason.ts';
import { ApiError } from '../trpc/errors.ts';
import { CHAT_SHAPE, choicesOf, type Fields, hasText, type ReplyChoice } from './reply-shape.ts';
import type { UpstreamChunks } from './upstream-chunks.ts';

type Step = IteratorResult<ReplyEvent, void>;

/** Reasons of the wire. Any other one is an end before the answer was whole. */
const REASONS: Readonly<Record<string, ReplyFinish['reason']>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  repetition: 'repetition',
  abort: 'abort',
  content_filter: 'content-filter',
};

export class UpstreamReplyEvents implements EventSource<ReplyEvent> {
  readonly #chunks: UpstreamChunks;
  #stage: 'begin' | 'middle' | 'ended' = 'begin';
  #hasFinish = false;
  /** The call that started last. */
  #call: { readonly id: string; readonly index: unknown } | undefined;

  constructor(chunks: UpstreamChunks) {
    this.#chunks = chunks;
  }

  /** Throws: as the chunks; `upstream_failed` where they end without a finish reason. */
  async next(): Promise<Step> {
    if (this.#stage === 'begin') {
      this.#stage = 'middle';
      return { done: false, value: { kind: 'start' } };
    }
    while (this.#stage === 'middle') {
      const step = await this.#chunks.next();
      if (step.done === true) {
        this.#stage = 'ended';
        if (!this.#hasFinish) throw withoutReason();
        return { done: false, value: { kind: 'end', usage: this.#chunks.usage } };
      }
      const [choice] = choicesOf(step.value);
      if (choice !== undefined)
        return { done: false, value: { kind: 'delta', delta: this.#toDelta(choice) } };
    }
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorReturnResult<void>> {
    this.#stage = 'ended';
    return this.#chunks.return();
  }

  #toDelta(choice: ReplyChoice): ReplyDelta {
    const { content, reasoning, refusal, tool_calls: calls } = CHAT_SHAPE.textOf(choice);
    const { finish_reason: reason, logprobs } = choice;
    const parts = Array.isArray(content) ? (content as Fields[]) : [{ type: 'text', text: content }];
    const thought = toText(reasoning) + textOfParts(parts, 'thinking');
    const text = textOfParts(parts, 'text');
    this.#hasFinish ||= typeof reason === 'string';
    return {
      choiceIndex: 0,
      content: text,
      reasoning: thought,
      refusal: toText(refusal),
      isReasoning: thought !== '' && text === '',
      toolCalls: Array.isArray(calls) ? (calls as Fields[]).map(call => this.#toToolCall(call)) : [],
      tokenCount: hasText(choice, CHAT_SHAPE) ? 1 : 0,
      tokenIds: null,
      logprobs: logprobs == null ? null : (logprobs as ChoiceLogprobs),
      finish:
        typeof reason === 'string'
          ? {
              reason: REASONS[reason] ?? 'error',
              stopReason: (choice.stop_reason ?? null) as ReplyFinish['stopReason'],
            }
          : null,
    };
  }

  /** A call starts with its name; servers that repeat the name in every piece repeat the id too. */
  #toToolCall({ index, id: sentId, function: called }: Fields): ToolCallDelta {
    const { name, arguments: args } = (called ?? {}) as Fields;
    const id = toText(sentId);
    const isSame = id !== '' && id === this.#call?.id && index === this.#call.index;
    const isStart = typeof name === 'string' && name !== '' && !isSame;
    if (isStart) this.#call = { id, index };
    return {
      index: typeof index === 'number' ? index : 0,
      ...(isStart && { start: { id, name } }),
      arguments: toArguments(args),
    };
  }
}

function withoutReason(): ApiError {
  const message = 'The server of the model ended its answer without a finish reason.';
  return new ApiError('upstream_failed', message, { param: 'model' });
}

/** Most servers send JSON as text, some the value. */
function toArguments(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : toText(value);
}

/** The text of all parts of a type. Source: Mistral's API, where reasoning is a list of texts in a part of the content. */
function textOfParts(parts: readonly Fields[], type: 'text' | 'thinking'): string {
  const texts = parts.filter(part => part.type === type).map(part => part[type]);
  return texts.map(text => (Array.isArray(text) ? textOfParts(text, 'text') : toText(text))).join('');
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
