// What happens in a reply, whoever generates it: an engine of this server, or another server.

import type { GenerationEvent, TokenUsage } from '@ortler/engine';
import type { EventSource } from '../generation/closing-stream.ts';
import { type ReplyDelta, type ReplyForm, toReplyDelta } from './reply-delta.ts';

export type ReplyEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'delta'; readonly delta: ReplyDelta }
  | { readonly kind: 'end'; readonly usage: TokenUsage };

export function toReplyEvent(event: GenerationEvent, form: ReplyForm): ReplyEvent {
  switch (event.kind) {
    case 'prompt-ready':
      return { kind: 'start' };
    case 'token-delta':
      return { kind: 'delta', delta: toReplyDelta(event, form) };
    case 'request-finish':
      return { kind: 'end', usage: event.usage };
  }
}

/** The events of an engine in the form that was asked for. */
export function toReplyEvents(
  events: EventSource<GenerationEvent>,
  form: ReplyForm,
): EventSource<ReplyEvent> {
  return {
    async next() {
      const step = await events.next();
      return step.done === true ? step : { done: false, value: toReplyEvent(step.value, form) };
    },
    return: () => events.return() as ReturnType<EventSource<ReplyEvent>['return']>,
  };
}
