// Items of a conversation in POST /v1/responses: messages, function calls with their outputs, and reasoning. Items of
// tools that run on OpenAI's servers do not exist here; an unknown kind of item is refused with the kinds there are.

import { z } from 'zod';
import { boundedList } from './bounded-collections.ts';
import { MAX_MESSAGE_COUNT, MAX_PART_COUNT } from './chat-prompt.ts';
import { type IssueParams, laxInteger } from './lax-primitives.ts';

const itemId = z.string().nullish().describe('Id of the item in the answer that it comes from.');
const status = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .nullish()
  .describe('Status of an item of an earlier answer. It has no effect.');

const text = z.string().describe('The text.');
const inputText = z.object({ type: z.literal('input_text'), text });
const outputText = z.object({ type: z.literal('output_text'), text });
const refusal = z.object({
  type: z.literal('refusal'),
  refusal: z.string().describe('Text of the refusal.'),
});
// Media are read so that their refusal can name their place.
const inputImage = z.object({ type: z.literal('input_image') });
const inputFile = z.object({ type: z.literal('input_file') });
const inputAudio = z.object({ type: z.literal('input_audio') });

/** One part of a message. The api refuses other media than text. */
export const responseInputPart = z
  .discriminatedUnion('type', [inputText, outputText, refusal, inputImage, inputFile, inputAudio])
  .describe('A part of the content. Models accept text parts only.');
export type ResponseInputPart = z.output<typeof responseInputPart>;

const parts = z.array(responseInputPart);

const inputMessage = z.object({
  // Optional, because clients may leave it out of messages, and only of these.
  type: z
    .literal('message')
    .optional()
    .transform(() => 'message' as const)
    .describe('Optional for messages.'),
  id: itemId,
  role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Role of the author.'),
  content: z.union([z.string(), parts]).describe('The text, or a list of parts.'),
  status,
});

const functionCallItem = z.object({
  type: z.literal('function_call'),
  id: itemId,
  call_id: z.string().describe('Id of the call, which its output repeats.'),
  name: z.string().describe('Name of the function that was called.'),
  arguments: z.string().describe('Its arguments as JSON text.'),
  status,
});

const functionCallOutputItem = z.object({
  type: z.literal('function_call_output'),
  id: itemId,
  call_id: z.string().describe('Id of the call that this is the output of.'),
  output: z.union([z.string(), parts]).describe('What the function returned, as text or as a list of parts.'),
  status,
});

const reasoningItem = z.object({
  type: z.literal('reasoning'),
  id: itemId,
  summary: z
    .array(z.object({ type: z.literal('summary_text'), text }))
    .nullish()
    .describe('Summary of the reasoning, which the model sees if there is no content.'),
  content: z
    .array(z.object({ type: z.literal('reasoning_text'), text }))
    .nullish()
    .describe('Text of the reasoning.'),
  encrypted_content: z
    .string()
    .nullish()
    .describe('Always null in answers of this server, which gives its reasoning as text.'),
  status,
});

const itemReference = z.object({
  type: z.literal('item_reference'),
  id: z.string().describe('Id of an item of a stored answer.'),
});

/** One item of the input. */
export const responseInputItem = z
  .discriminatedUnion('type', [
    inputMessage,
    functionCallItem,
    functionCallOutputItem,
    reasoningItem,
    itemReference,
  ])
  .describe('A message, a call of a function, its output, reasoning, or a reference to a stored item.');
export type ResponseInputItem = z.output<typeof responseInputItem>;

const itemList = boundedList(responseInputItem, { minLength: 1, maxLength: MAX_MESSAGE_COUNT });

const items = z.preprocess((given: z.input<typeof itemList>, context) => {
  if (countParts(given) <= MAX_PART_COUNT) return given;
  const message = `Items should have at most ${MAX_PART_COUNT} parts together`;
  const params: IssueParams = { type: 'too_long' };
  context.issues.push({ code: 'custom', message, params: { ...params }, input: given });
  return z.NEVER;
}, itemList);

/** The `input` field: one text of the user, or the items of the conversation. */
export const responseInput = z
  .union([z.string(), items])
  .describe('Text of the user, or the items of the conversation, oldest first.');
export type ResponseInput = z.output<typeof responseInput>;

/** Parts of all items. A list with too many items is left to its own bound. */
function countParts(given: unknown): number {
  if (!Array.isArray(given) || given.length > MAX_MESSAGE_COUNT) return 0;
  let count = 0;
  for (const item of given) {
    if (typeof item !== 'object' || item === null) continue;
    for (const list of Object.values(item)) if (Array.isArray(list)) count += list.length;
  }
  return count;
}

/** Query parameters of GET /v1/responses/{response_id}/input_items. */
export const responseInputItemListInput = z.object({
  response_id: z.string().min(1).describe('Id of the response.'),
  after: z.string().optional().describe('Cursor: the id of the last item of the previous page.'),
  limit: laxInteger({ minimum: 1, maximum: 100 }).prefault(20).describe('Maximum number of items to return.'),
  order: z.enum(['asc', 'desc']).default('desc').describe('`asc`: the oldest item first.'),
});

const itemText = z.discriminatedUnion('type', [
  inputText,
  outputText.extend({ annotations: z.array(z.unknown()), logprobs: z.array(z.unknown()) }),
  refusal,
]);
const listedFields = {
  id: z.string().describe('Id of the item, for `item_reference` and `after`.'),
  status: z.enum(['in_progress', 'completed', 'incomplete']),
};

/** An item as it is listed: with an id and a status, and texts as parts. */
export const responseListedItem = z
  .discriminatedUnion('type', [
    inputMessage.extend({ ...listedFields, type: z.literal('message'), content: z.array(itemText) }),
    functionCallItem.extend(listedFields),
    functionCallOutputItem.extend({ ...listedFields, output: z.union([z.string(), z.array(itemText)]) }),
    reasoningItem.extend(listedFields),
  ])
  .describe('An item of the conversation.');
export type ResponseListedItem = z.output<typeof responseListedItem>;

/** One page of the items that a response answered. */
export const responseInputItemList = z.object({
  object: z.literal('list'),
  data: z.array(responseListedItem),
  first_id: z.string().nullable().describe('Id of the first item of the page; null in an empty one.'),
  last_id: z.string().nullable().describe('Id of the last item of the page; null in an empty one.'),
  has_more: z.boolean().describe('Whether more items follow this page.'),
});
export type ResponseInputItemList = z.output<typeof responseInputItemList>;

export const responseInputItemExamples = {
  valid: [
    { role: 'user', content: 'What is the weather in Paris?' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello!' }],
    },
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
    { type: 'function_call_output', call_id: 'call_1', output: '18 degrees' },
    { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    { type: 'item_reference', id: 'msg_1' },
  ],
  invalid: [
    { input: { role: 'tool', content: 'x' }, type: 'literal_error', loc: ['role'] },
    { input: { type: 'web_search_call', id: 'ws_1' }, type: 'literal_error', loc: ['type'] },
    { input: { role: 'user' }, type: 'missing', loc: ['content'] },
    { input: { type: 'function_call', name: 'x', arguments: '{}' }, type: 'missing', loc: ['call_id'] },
  ],
} as const;
