// One response while it is generated, event by event of the reply: written, stored when it ends, failed when the engine
// or the other server fails. Streamed and whole answers both read it.

import type { ResponseObject, ResponseStreamEvent } from '@ortler/schemas';
import type { ReplyEvent } from '../chat/reply-event.ts';
import type { EventSource } from '../generation/closing-stream.ts';
import type { ResponseWriter } from './response-writer.ts';
import { toResponseError } from './to-response-error.ts';

export interface ResponseRunOptions {
  readonly writer: ResponseWriter;
  readonly events: EventSource<ReplyEvent>;
  readonly requestId: string;
  /** Keeps an answer that has ended, before its last event is sent. */
  readonly save: (response: ResponseObject) => Promise<void>;
}

type Written = readonly ResponseStreamEvent[];

export class ResponseRun implements EventSource<Written> {
  readonly #options: ResponseRunOptions;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ResponseRunOptions) {
    this.#options = options;
  }

  /** The next events. A failure gives the event `response.failed` and is thrown by the call after that. */
  async next(): Promise<IteratorResult<Written, void>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { writer, events, requestId, save } = this.#options;
    try {
      const step = await events.next();
      if (step.done === true) return step;
      const written = writer.push(step.value);
      if (step.value.kind === 'end') await save(writer.response);
      return { done: false, value: written };
    } catch (error) {
      this.#failure = { error: toResponseError(error) };
      return { done: false, value: writer.fail(this.#failure.error, requestId) };
    }
  }

  return(): Promise<IteratorResult<never, void>> {
    return this.#options.events.return() as Promise<IteratorResult<never, void>>;
  }
}
