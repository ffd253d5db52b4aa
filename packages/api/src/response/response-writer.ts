// The events of a reply -> those of a response. The answer that is not streamed is the one in the last event, so both have
// the same fields.

import type { TokenUsage, ToolCallDelta } from '@ortler/engine';
import type { ResponseObject, ResponseOutputItem, ResponseStreamEvent, TokenLogprob } from '@ortler/schemas';
import type { ReplyDelta } from '../chat/reply-delta.ts';
import type { ReplyEvent } from '../chat/reply-event.ts';
import type { ReplyFinish } from '../generation/to-finish-reason.ts';
import { toPublicError } from '../trpc/errors.ts';
import {
  createFunctionCallItem,
  createMessageItem,
  createReasoningItem,
  createRefusalItem,
  type ItemPlace,
  type OpenItem,
  type UnnumberedEvent,
} from './open-item.ts';

export interface ResponseWriterOptions {
  /** The answer before its first token. */
  readonly response: ResponseObject;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

const ID_PREFIXES = { message: 'msg', refusal: 'msg', reasoning: 'rs', function_call: 'fc' } as const;
/** Items that are nothing but text. */
type TextKind = Exclude<OpenItem['kind'], 'function_call'>;

/** Events in OpenAI's order: created, in_progress, those of each item, and the end of the response. */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions;
  readonly #output: ResponseOutputItem[] = [];
  #response: ResponseObject;
  #sequenceNumber = 0;
  #open: OpenItem | null = null;
  #finish: ReplyFinish | null = null;
  #reasoningTokenCount = 0;
  /** Log probabilities of tokens whose text is still held back. */
  readonly #unsentLogprobs: TokenLogprob[] = [];

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
    this.#response = options.response;
  }

  /** The events of one event of the reply. Mutates: the writer; events are passed once and in order. */
  push(event: ReplyEvent): ResponseStreamEvent[] {
    return this.#numbered(this.#eventsOf(event));
  }

  /** The answer as it is now: whole after the last event. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** The last event of a generation that failed after its first event. */
  fail(error: unknown, requestId: string): ResponseStreamEvent[] {
    const { message } = toPublicError(error, requestId);
    const closing = this.#closeItem('incomplete');
    this.#response = {
      ...this.#response,
      status: 'failed',
      error: { code: 'server_error', message },
      output: [...this.#output],
    };
    return this.#numbered([...closing, { type: 'response.failed', response: this.#response }]);
  }

  #eventsOf(event: ReplyEvent): UnnumberedEvent[] {
    switch (event.kind) {
      case 'start': {
        const { response } = this.#options;
        return [
          { type: 'response.created', response },
          { type: 'response.in_progress', response },
        ];
      }
      case 'delta':
        return this.#deltaEvents(event.delta);
      case 'end':
        return [this.#lastEvent(event.usage)];
    }
  }

  #deltaEvents(delta: ReplyDelta): UnnumberedEvent[] {
    const { content, reasoning, refusal, isReasoning, toolCalls, tokenCount, logprobs, finish } = delta;
    if (isReasoning) this.#reasoningTokenCount += tokenCount;
    else this.#unsentLogprobs.push(...(logprobs?.content ?? []));
    const events: UnnumberedEvent[] = [];
    if (reasoning !== '') events.push(...this.#textEvents('reasoning', reasoning));
    if (content !== '') events.push(...this.#textEvents('message', content));
    if (refusal !== '') events.push(...this.#textEvents('refusal', refusal));
    for (const call of toolCalls) events.push(...this.#callEvents(call));
    if (finish === null) return events;
    this.#finish = finish;
    // An answer without any text is still a message, unless it was cut off in its reasoning.
    if (this.#open === null && this.#output.length === 0) events.push(...this.#openItem('message'));
    // End tokens have log probabilities and no text.
    if (this.#open?.kind === 'message' && this.#unsentLogprobs.length > 0)
      events.push(...this.#textEvents('message', ''));
    const isWhole = finish.reason === 'stop' || finish.reason === 'tool-calls';
    return [...events, ...this.#closeItem(isWhole ? 'completed' : 'incomplete')];
  }

  #textEvents(kind: TextKind, text: string): UnnumberedEvent[] {
    const events =
      this.#open?.kind === kind ? [] : [...this.#closeItem('completed'), ...this.#openItem(kind)];
    const logprobs = kind === 'message' ? this.#unsentLogprobs.splice(0) : [];
    return [...events, ...this.#open!.push(text, logprobs)];
  }

  /** Calls come one after the other: the first text of one ends the call before it. */
  #callEvents({ start, arguments: args }: ToolCallDelta): UnnumberedEvent[] {
    const events: UnnumberedEvent[] = [];
    if (start !== undefined) {
      events.push(...this.#closeItem('completed'));
      const { id: callId, name } = start;
      this.#open = createFunctionCallItem(this.#placeOf('function_call'), { callId, name });
      events.push(...this.#open.open());
    }
    return args === '' ? events : [...events, ...this.#open!.push(args, [])];
  }

  #openItem(kind: TextKind): UnnumberedEvent[] {
    this.#open = this.#createItem(kind);
    return this.#open.open();
  }

  #createItem(kind: TextKind): OpenItem {
    const place = this.#placeOf(kind);
    switch (kind) {
      case 'message':
        return createMessageItem(place);
      case 'refusal':
        return createRefusalItem(place);
      case 'reasoning':
        return createReasoningItem(place, this.#options.response.reasoning.summary !== null);
    }
  }

  #placeOf(kind: keyof typeof ID_PREFIXES): ItemPlace {
    const output_index = this.#output.length;
    const responseId = this.#options.response.id.replace(/^resp_/, '');
    return { item_id: `${ID_PREFIXES[kind]}_${responseId}_${output_index}`, output_index };
  }

  #closeItem(status: 'completed' | 'incomplete'): UnnumberedEvent[] {
    if (this.#open === null) return [];
    const events = this.#open.close(status);
    this.#output.push(this.#open.item(status));
    this.#open = null;
    return events;
  }

  #lastEvent({ promptTokenCount, completionTokenCount, cachedTokenCount }: TokenUsage): UnnumberedEvent {
    const { type, ...fields } = endOf(this.#finish?.reason);
    this.#response = {
      ...this.#response,
      ...fields,
      completed_at: Math.floor(this.#options.now() / 1000),
      output: [...this.#output],
      usage: {
        input_tokens: promptTokenCount,
        input_tokens_details: { cached_tokens: cachedTokenCount },
        output_tokens: completionTokenCount,
        output_tokens_details: { reasoning_tokens: this.#reasoningTokenCount },
        total_tokens: promptTokenCount + completionTokenCount,
      },
    };
    return { type, response: this.#response };
  }

  #numbered(events: readonly UnnumberedEvent[]): ResponseStreamEvent[] {
    return events.map(
      event => ({ ...event, sequence_number: this.#sequenceNumber++ }) as ResponseStreamEvent,
    );
  }
}

/** The last event of a response and its fields, by how its only choice ended. */
function endOf(reason: ReplyFinish['reason'] | undefined) {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
      return { type: 'response.completed', status: 'completed' } as const;
    case 'length':
      return incompleteBy('max_output_tokens');
    case 'repetition':
      return incompleteBy('repetition');
    case 'content-filter':
      return incompleteBy('content_filter');
    default: {
      const error = { code: 'server_error', message: `The generation ended early: ${String(reason)}.` };
      return { type: 'response.failed', status: 'failed', error } as const;
    }
  }
}

function incompleteBy(reason: NonNullable<ResponseObject['incomplete_details']>['reason']) {
  return { type: 'response.incomplete', status: 'incomplete', incomplete_details: { reason } } as const;
}
