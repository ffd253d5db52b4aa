// One item of a response's output while it is generated, and the events about it: `added`, deltas, `done`.

import type { ResponseOutputItem, ResponseStreamEvent, TokenLogprob } from '@ortler/schemas';

/** An event without its number, which the stream gives it. */
export type UnnumberedEvent = ResponseStreamEvent extends infer Event
  ? Event extends ResponseStreamEvent
    ? Omit<Event, 'sequence_number'>
    : never
  : never;

type ItemStatus = ResponseOutputItem['status'];

/** An item that is being generated. */
export interface OpenItem {
  /** A refusal is a message on the wire. */
  readonly kind: ResponseOutputItem['type'] | 'refusal';
  /** The item with what it has so far. */
  item(status: ItemStatus): ResponseOutputItem;
  /** Events that announce the item. */
  open(): UnnumberedEvent[];
  /** Adds text. Mutates: the item. */
  push(text: string, logprobs: readonly TokenLogprob[]): UnnumberedEvent[];
  /** Events at the end of the item. */
  close(status: ItemStatus): UnnumberedEvent[];
}

/** The id of an item and its place in the output. */
export interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

export function createMessageItem(place: ItemPlace): OpenItem {
  const inPart = { ...place, content_index: 0 };
  const logprobs: TokenLogprob[] = [];
  let text = '';
  const part = () => ({ type: 'output_text' as const, text, annotations: [], logprobs: [...logprobs] });
  const item = (status: ItemStatus, content = [part()]): ResponseOutputItem => {
    return { type: 'message', id: place.item_id, status, role: 'assistant', content };
  };
  return {
    kind: 'message',
    item,
    open: () => [
      { type: 'response.output_item.added', output_index: place.output_index, item: item('in_progress', []) },
      { type: 'response.content_part.added', ...inPart, part: part() },
    ],
    push(delta, newLogprobs) {
      text += delta;
      logprobs.push(...newLogprobs);
      return [{ type: 'response.output_text.delta', ...inPart, delta, logprobs: [...newLogprobs] }];
    },
    close: status => [
      { type: 'response.output_text.done', ...inPart, text, logprobs: [...logprobs] },
      { type: 'response.content_part.done', ...inPart, part: part() },
      { type: 'response.output_item.done', output_index: place.output_index, item: item(status) },
    ],
  };
}

/** A message that says why there is no answer. Source: OpenAI's `refusal` parts. */
export function createRefusalItem(place: ItemPlace): OpenItem {
  const inPart = { ...place, content_index: 0 };
  let refusal = '';
  const part = () => ({ type: 'refusal' as const, refusal });
  const item = (status: ItemStatus, content = [part()]): ResponseOutputItem => {
    return { type: 'message', id: place.item_id, status, role: 'assistant', content };
  };
  return {
    kind: 'refusal',
    item,
    open: () => [
      { type: 'response.output_item.added', output_index: place.output_index, item: item('in_progress', []) },
      { type: 'response.content_part.added', ...inPart, part: part() },
    ],
    push(delta) {
      refusal += delta;
      return [{ type: 'response.refusal.delta', ...inPart, delta }];
    },
    close: status => [
      { type: 'response.refusal.done', ...inPart, refusal },
      { type: 'response.content_part.done', ...inPart, part: part() },
      { type: 'response.output_item.done', output_index: place.output_index, item: item(status) },
    ],
  };
}

/** @param isSummary The text is given as the summary of the reasoning in place of its content. */
export function createReasoningItem(place: ItemPlace, isSummary: boolean): OpenItem {
  const { item_id: id, output_index } = place;
  const inSummary = { ...place, summary_index: 0 };
  const inContent = { ...place, content_index: 0 };
  let text = '';
  const summaryPart = () => ({ type: 'summary_text' as const, text });
  const contentPart = () => ({ type: 'reasoning_text' as const, text });
  const item = (status: ItemStatus, isEmpty = false): ResponseOutputItem => ({
    type: 'reasoning',
    id,
    status,
    summary: isSummary && !isEmpty ? [summaryPart()] : [],
    content: isSummary || isEmpty ? [] : [contentPart()],
    encrypted_content: null,
  });
  return {
    kind: 'reasoning',
    item,
    open: () => [
      { type: 'response.output_item.added', output_index, item: item('in_progress', true) },
      isSummary
        ? { type: 'response.reasoning_summary_part.added', ...inSummary, part: summaryPart() }
        : { type: 'response.content_part.added', ...inContent, part: contentPart() },
    ],
    push(delta) {
      text += delta;
      return [
        isSummary
          ? { type: 'response.reasoning_summary_text.delta', ...inSummary, delta }
          : { type: 'response.reasoning_text.delta', ...inContent, delta },
      ];
    },
    close: status => [
      ...(isSummary
        ? ([
            { type: 'response.reasoning_summary_text.done', ...inSummary, text },
            { type: 'response.reasoning_summary_part.done', ...inSummary, part: summaryPart() },
          ] as const)
        : ([
            { type: 'response.reasoning_text.done', ...inContent, text },
            { type: 'response.content_part.done', ...inContent, part: contentPart() },
          ] as const)),
      { type: 'response.output_item.done', output_index, item: item(status) },
    ],
  };
}

export function createFunctionCallItem(
  place: ItemPlace,
  { callId, name }: { readonly callId: string; readonly name: string },
): OpenItem {
  const { item_id: id, output_index } = place;
  let args = '';
  const item = (status: ItemStatus): ResponseOutputItem => {
    return { type: 'function_call', id, status, call_id: callId, name, arguments: args };
  };
  return {
    kind: 'function_call',
    item,
    open: () => [{ type: 'response.output_item.added', output_index, item: item('in_progress') }],
    push(delta) {
      args += delta;
      return [{ type: 'response.function_call_arguments.delta', ...place, delta }];
    },
    close: status => [
      { type: 'response.function_call_arguments.done', ...place, name, arguments: args },
      { type: 'response.output_item.done', output_index, item: item(status) },
    ],
  };
}
