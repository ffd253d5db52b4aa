// Engine events -> the events of a response. The answer that is not streamed is the one in the last event, so both have
// the same fields.

import type { GenerationEvent, TokenDeltaEvent, TokenUsage } from '@ortler/engine';
import type { ResponseObject, ResponseOutputItem, ResponseStreamEvent, TokenLogprob } from '@ortler/schemas';
import { type ReplyForm, toReplyDelta } from '../chat/reply-delta.ts';
import { toPublicError } from '../trpc/errors.ts';
import { createMessageItem, createReasoningItem, type OpenItem, type UnnumberedEvent } from './open-item.ts';

export interface ResponseWriterOptions {
  /** The answer before its first token. */
  readonly response: ResponseObject;
  readonly form: ReplyForm;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

const ID_PREFIXES = { message: 'msg', reasoning: 'rs', function_call: 'fc' } as const;

/** Events in OpenAI's order: created, in_progress, those of each item, and the end of the response. */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions;
  readonly #output: ResponseOutputItem[] = [];
  #sequenceNumber = 0;
  #open: OpenItem | null = null;
  #finish: TokenDeltaEvent['finish'] = null;
  #reasoningTokenCount = 0;
  /** Log probabilities of tokens whose text is still held back. */
  readonly #unsentLogprobs: TokenLogprob[] = [];

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
  }

  /** The events of one event of the engine. Mutates: the writer; events are passed once and in order. */
  push(event: GenerationEvent): ResponseStreamEvent[] {
    return this.#numbered(this.#eventsOf(event));
  }

  /** The last event of a generation that failed after its first event. */
  fail(error: unknown, requestId: string): ResponseStreamEvent[] {
    const { message } = toPublicError(error, requestId);
    const closing = this.#closeItem('incomplete');
    const response: ResponseObject = {
      ...this.#options.response,
      status: 'failed',
      error: { code: 'server_error', message },
      output: [...this.#output],
    };
    return this.#numbered([...closing, { type: 'response.failed', response }]);
  }

  #eventsOf(event: GenerationEvent): UnnumberedEvent[] {
    switch (event.kind) {
      case 'prompt-ready': {
        const { response } = this.#options;
        return [
          { type: 'response.created', response },
          { type: 'response.in_progress', response },
        ];
      }
      case 'token-delta':
        return this.#deltaEvents(event);
      case 'request-finish':
        return [this.#lastEvent(event.usage)];
    }
  }

  #deltaEvents(event: TokenDeltaEvent): UnnumberedEvent[] {
    const { content, reasoning, isReasoning, tokenCount, logprobs, finish } = toReplyDelta(
      event,
      this.#options.form,
    );
    const isOfReasoning = isReasoning || (reasoning !== '' && content === '');
    if (isOfReasoning) this.#reasoningTokenCount += tokenCount;
    else this.#unsentLogprobs.push(...(logprobs?.content ?? []));
    const events: UnnumberedEvent[] = [];
    if (reasoning !== '') events.push(...this.#textEvents('reasoning', reasoning));
    if (content !== '') events.push(...this.#textEvents('message', content));
    if (finish === null) return events;
    this.#finish = finish;
    // An answer without any text is still a message, unless it was cut off in its reasoning.
    if (this.#open === null && this.#output.length === 0) events.push(...this.#openItem('message'));
    // End tokens have log probabilities and no text.
    if (this.#open?.kind === 'message' && this.#unsentLogprobs.length > 0)
      events.push(...this.#textEvents('message', ''));
    return [...events, ...this.#closeItem(finish.reason === 'stop' ? 'completed' : 'incomplete')];
  }

  #textEvents(kind: 'reasoning' | 'message', text: string): UnnumberedEvent[] {
    const events =
      this.#open?.kind === kind ? [] : [...this.#closeItem('completed'), ...this.#openItem(kind)];
    const logprobs = kind === 'message' ? this.#unsentLogprobs.splice(0) : [];
    return [...events, ...this.#open!.push(text, logprobs)];
  }

  #openItem(kind: 'reasoning' | 'message'): UnnumberedEvent[] {
    const output_index = this.#output.length;
    const { id, reasoning } = this.#options.response;
    const item_id = `${ID_PREFIXES[kind]}_${id.replace(/^resp_/, '')}_${output_index}`;
    const place = { item_id, output_index };
    this.#open =
      kind === 'message' ? createMessageItem(place) : createReasoningItem(place, reasoning.summary !== null);
    return this.#open.open();
  }

  #closeItem(status: 'completed' | 'incomplete'): UnnumberedEvent[] {
    if (this.#open === null) return [];
    const events = this.#open.close(status);
    this.#output.push(this.#open.item(status));
    this.#open = null;
    return events;
  }

  #lastEvent({ promptTokenCount, completionTokenCount, cachedTokenCount }: TokenUsage): UnnumberedEvent {
    const { response, now } = this.#options;
    const reason = this.#finish?.reason;
    const ended: ResponseObject = {
      ...response,
      completed_at: Math.floor(now() / 1000),
      output: [...this.#output],
      usage: {
        input_tokens: promptTokenCount,
        input_tokens_details: { cached_tokens: cachedTokenCount },
        output_tokens: completionTokenCount,
        output_tokens_details: { reasoning_tokens: this.#reasoningTokenCount },
        total_tokens: promptTokenCount + completionTokenCount,
      },
    };
    switch (reason) {
      case 'length':
        return {
          type: 'response.incomplete',
          response: { ...ended, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
        };
      case 'stop':
        return { type: 'response.completed', response: { ...ended, status: 'completed' } };
      default: {
        const error = { code: 'server_error', message: `The generation ended early: ${String(reason)}.` };
        return { type: 'response.failed', response: { ...ended, status: 'failed', error } };
      }
    }
  }

  #numbered(events: readonly UnnumberedEvent[]): ResponseStreamEvent[] {
    return events.map(
      event => ({ ...event, sequence_number: this.#sequenceNumber++ }) as ResponseStreamEvent,
    );
  }
}
