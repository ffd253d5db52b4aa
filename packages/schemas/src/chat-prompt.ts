// Fields of a chat request that control the prompt: messages, chat template, truncation, reasoning.

import { z } from 'zod';
import { boundedList, boundedRecord, jsonObject, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { chatMessage } from './chat-message.ts';
import { laxBigInteger, laxBoolean, WIRE_INT64_LIMIT } from './lax-primitives.ts';

/** Maximum number of messages of one request. A longer list is refused before any message is validated. */
export const MAX_MESSAGE_COUNT = 4_096;

/** Maximum number of parts and tool calls of all messages of a request together. */
export const MAX_PART_COUNT = 16_384;

const namedValues = boundedRecord(z.unknown(), MAX_NAMED_VALUES);

const messageList = boundedList(chatMessage, { minLength: 1, maxLength: MAX_MESSAGE_COUNT });

const messages = z.preprocess((given: z.input<typeof messageList>, context) => {
  if (countParts(given) <= MAX_PART_COUNT) return given;
  const message = `Messages should have at most ${MAX_PART_COUNT} parts and tool calls together`;
  context.issues.push({ code: 'custom', message, params: { type: 'too_long' }, input: given });
  return z.NEVER;
}, messageList);

export const promptFields = {
  messages: messages.describe('The conversation so far, oldest message first.'),
  reasoning_effort: z
    .enum(['low', 'medium', 'high'])
    .nullish()
    .describe('Reasoning effort, passed to the chat template.'),
  include_reasoning: laxBoolean()
    .prefault(true)
    .describe('Returns the reasoning text, apart from the answer.'),
  skip_special_tokens: laxBoolean().prefault(true).describe('Omits special tokens from the text.'),
  spaces_between_special_tokens: laxBoolean()
    .prefault(true)
    .describe('Inserts spaces between special tokens when they are shown.'),
  truncate_prompt_tokens: laxBigInteger(-1n, WIRE_INT64_LIMIT)
    .nullish()
    .describe(
      'Truncates the prompt to its last tokens, as many as given. -1 keeps as many as fit the context.',
    ),
  echo: laxBoolean()
    .prefault(false)
    .describe('Prepends the last message to the new one when both have the same role.'),
  add_generation_prompt: laxBoolean()
    .prefault(true)
    .describe('Ends the prompt with the generation prompt: the start of the assistant’s turn.'),
  continue_final_message: laxBoolean()
    .prefault(false)
    .describe(
      'Lets the model continue the last message (response prefill). Needs `add_generation_prompt: false`.',
    ),
  add_special_tokens: laxBoolean()
    .prefault(false)
    .describe('Adds special tokens in addition to those of the chat template.'),
  documents: boundedList(jsonObject())
    .nullish()
    .describe(
      'Documents (RAG) for the chat template, best with the keys `title` and `text`. No effect on templates without them.',
    ),
  chat_template: z
    .string()
    .nullish()
    .describe(
      'Jinja chat template that replaces the model’s, or the name of one of the model’s templates. Required when the model has none.',
    ),
  chat_template_kwargs: namedValues.nullish().describe('Additional variables for the chat template.'),
  mm_processor_kwargs: namedValues.nullish().describe('Arguments of a multimodal processor.'),
} as const;

/** Number of parts and tool calls in all messages. A list with too many messages is left to its own bound. */
function countParts(given: unknown): number {
  if (!Array.isArray(given) || given.length > MAX_MESSAGE_COUNT) return 0;
  let count = 0;
  for (const message of given) {
    if (typeof message !== 'object' || message === null) continue;
    const { content, tool_calls: calls } = message as {
      readonly content?: unknown;
      readonly tool_calls?: unknown;
    };
    if (Array.isArray(content)) count += content.length;
    if (Array.isArray(calls)) count += calls.length;
  }
  return count;
}
