// Server-sent events of POST /v1/responses with `stream: true`, in OpenAI's names and order. Each event has a
// `sequence_number`, from 0.

import { z } from 'zod';
import { tokenLogprob } from './chat-logprobs.ts';
import {
  responseObject,
  responseOutputItem,
  responseOutputText,
  responseReasoningText,
  responseRefusal,
  responseSummaryText,
} from './response-object.ts';

const sequence_number = z.int().describe('Number of the event in the stream, from 0.');
const output_index = z.int().describe('Place of the item in the output.');
const item_id = z.string().describe('Id of the item.');
const content_index = z.int().describe('Place of the part in the content of the item.');
const summary_index = z.int().describe('Place of the part in the summary of the item.');
const ofItem = { sequence_number, output_index, item_id } as const;

const lifecycle = <const Type extends string>(type: Type) =>
  z.object({ type: z.literal(type), sequence_number, response: responseObject });
const ofPart = <const Type extends string>(type: Type) =>
  z.object({
    type: z.literal(type),
    ...ofItem,
    content_index,
    part: z.discriminatedUnion('type', [responseOutputText, responseRefusal, responseReasoningText]),
  });
const ofSummaryPart = <const Type extends string>(type: Type) =>
  z.object({ type: z.literal(type), ...ofItem, summary_index, part: responseSummaryText });

/** One event. */
export const responseStreamEvent = z.discriminatedUnion('type', [
  lifecycle('response.created'),
  lifecycle('response.in_progress'),
  lifecycle('response.completed'),
  lifecycle('response.incomplete'),
  lifecycle('response.failed'),
  z.object({
    type: z.literal('response.output_item.added'),
    sequence_number,
    output_index,
    item: responseOutputItem,
  }),
  z.object({
    type: z.literal('response.output_item.done'),
    sequence_number,
    output_index,
    item: responseOutputItem,
  }),
  ofPart('response.content_part.added'),
  ofPart('response.content_part.done'),
  z.object({
    type: z.literal('response.output_text.delta'),
    ...ofItem,
    content_index,
    delta: z.string().describe('The next piece of text.'),
    logprobs: z.array(tokenLogprob).describe('Log probabilities of its tokens, when requested.'),
  }),
  z.object({
    type: z.literal('response.output_text.done'),
    ...ofItem,
    content_index,
    text: z.string().describe('The whole text.'),
    logprobs: z.array(tokenLogprob).describe('Log probabilities of its tokens, when requested.'),
  }),
  z.object({
    type: z.literal('response.refusal.delta'),
    ...ofItem,
    content_index,
    delta: z.string().describe('The next piece of a refusal.'),
  }),
  z.object({
    type: z.literal('response.refusal.done'),
    ...ofItem,
    content_index,
    refusal: z.string().describe('The whole refusal.'),
  }),
  z.object({
    type: z.literal('response.reasoning_text.delta'),
    ...ofItem,
    content_index,
    delta: z.string().describe('The next piece of reasoning.'),
  }),
  z.object({
    type: z.literal('response.reasoning_text.done'),
    ...ofItem,
    content_index,
    text: z.string().describe('The whole reasoning.'),
  }),
  ofSummaryPart('response.reasoning_summary_part.added'),
  ofSummaryPart('response.reasoning_summary_part.done'),
  z.object({
    type: z.literal('response.reasoning_summary_text.delta'),
    ...ofItem,
    summary_index,
    delta: z.string().describe('The next piece of reasoning.'),
  }),
  z.object({
    type: z.literal('response.reasoning_summary_text.done'),
    ...ofItem,
    summary_index,
    text: z.string().describe('The whole reasoning.'),
  }),
  z.object({
    type: z.literal('response.function_call_arguments.delta'),
    ...ofItem,
    delta: z.string().describe('The next piece of the arguments.'),
  }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...ofItem,
    name: z.string().describe('Name of the function.'),
    arguments: z.string().describe('All of the arguments, as JSON text.'),
  }),
]);
export type ResponseStreamEvent = z.output<typeof responseStreamEvent>;
