// Bodies and answers of POST /tokenize and POST /detokenize: token ids of a text or conversation, and the text of token
// ids. Nothing is generated.

import { z } from 'zod';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { laxBoolean, nullAsDefault, reportRule } from './lax-primitives.ts';
import { tokenIdList } from './token-ids.ts';

const chat = chatCompletionRequest.shape;

/** A text, or a conversation that the chat template renders as text. */
export const tokenizeRequest = z
  .object({
    model: chat.model,
    prompt: z.string().optional().describe('The text. Excludes `messages`.'),
    messages: chat.messages.optional().describe('The conversation. Excludes `prompt`.'),
    add_generation_prompt: chat.add_generation_prompt,
    continue_final_message: chat.continue_final_message,
    add_special_tokens: laxBoolean()
      .optional()
      .describe(
        'Adds the special tokens of the tokenizer, such as BOS. Default: true for `prompt`, false for `messages`.',
      ),
    return_token_strs: nullAsDefault(laxBoolean(), false).describe(
      'Adds the strings of the tokens in the vocabulary.',
    ),
    chat_template: chat.chat_template,
    chat_template_kwargs: chat.chat_template_kwargs,
    mm_processor_kwargs: chat.mm_processor_kwargs,
    tools: chat.tools.describe('Functions, written into the prompt as in a chat with the same fields.'),
    tool_choice: chat.tool_choice.describe(
      'With tool calling: as in a chat, `auto` beside tools by default. Without it, it has no effect.',
    ),
  })
  .check(context => {
    const { prompt, messages, continue_final_message, add_generation_prompt } = context.value;
    if ((prompt === undefined) === (messages === undefined)) {
      reportRule(context, 'prompt', 'Give either prompt or messages');
    }
    if (continue_final_message && add_generation_prompt) {
      reportRule(
        context,
        'continue_final_message',
        'continue_final_message needs add_generation_prompt: false, which is true unless it is given',
      );
    }
  });
/** The parsed request. */
export type TokenizeRequest = z.output<typeof tokenizeRequest>;

const FRANCE = [{ role: 'user', content: 'What is the capital of France?' }];

export const tokenizeRequestExamples = {
  valid: [
    { prompt: 'The capital of France is' },
    { prompt: '', add_special_tokens: false, return_token_strs: true },
    { model: 'demo', messages: FRANCE, add_generation_prompt: false, continue_final_message: true },
  ],
  invalid: [
    { input: {}, type: 'value_error', loc: ['prompt'] },
    { input: { prompt: 'a', messages: FRANCE }, type: 'value_error', loc: ['prompt'] },
    { input: { prompt: ['a'] }, type: 'string_type', loc: ['prompt'] },
    {
      input: { messages: FRANCE, continue_final_message: true },
      type: 'value_error',
      loc: ['continue_final_message'],
    },
  ],
} as const;

const tokensExample = { count: 2, max_model_len: 512, tokens: [464, 3139], token_strs: null };

/** The tokens. */
export const tokenizeResult = z
  .object({
    count: z.int().describe('Number of tokens.'),
    max_model_len: z
      .int()
      .describe('Context length of the model: maximum number of tokens of prompt and answer together.'),
    tokens: z.array(z.int()).describe('Token ids.'),
    token_strs: z
      .array(z.string())
      .nullable()
      .describe('Strings of the tokens in the vocabulary, when requested.'),
  })
  .meta({ examples: [tokensExample] });
export type TokenizeResult = z.output<typeof tokenizeResult>;

export const tokenizeResultExamples = {
  valid: [tokensExample, { ...tokensExample, token_strs: ['The', 'Ġcapital'] }],
  invalid: [{ input: { ...tokensExample, tokens: 'x' }, type: 'list_type', loc: ['tokens'] }],
} as const;

/** Token ids to decode. */
export const detokenizeRequest = z.object({
  model: chat.model,
  tokens: tokenIdList().describe('Token ids, in order.'),
});
/** The parsed request. */
export type DetokenizeRequest = z.output<typeof detokenizeRequest>;

export const detokenizeRequestExamples = {
  valid: [{ tokens: [464, 3139] }, { model: 'demo', tokens: [] }],
  invalid: [
    { input: {}, type: 'missing', loc: ['tokens'] },
    { input: { tokens: '464' }, type: 'list_type', loc: ['tokens'] },
    { input: { tokens: [464, 'x'] }, type: 'int_type', loc: ['tokens', '1'] },
  ],
} as const;

const textExample = { prompt: 'The capital' };

/** The text. */
export const detokenizeResult = z
  .object({ prompt: z.string().describe('The text of the tokens, including special tokens.') })
  .meta({ examples: [textExample] });
export type DetokenizeResult = z.output<typeof detokenizeResult>;

export const detokenizeResultExamples = {
  valid: [textExample],
  invalid: [{ input: {}, type: 'missing', loc: ['prompt'] }],
} as const;
