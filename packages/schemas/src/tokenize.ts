// Bodies and answers of POST /tokenize and POST /detokenize: what a model's tokenizer makes of a text or conversation,
// and back. Nothing is generated.

import { z } from 'zod';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { laxBoolean, nullAsDefault, reportRule } from './lax-primitives.ts';
import { tokenIdList } from './token-ids.ts';

const chat = chatCompletionRequest.shape;

/** A text, or a conversation that the chat template turns into one. */
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
        'Adds the tokenizer’s own special tokens. By default true for `prompt`, false for `messages`.',
      ),
    return_token_strs: nullAsDefault(laxBoolean(), false).describe(
      'Adds the texts by which the vocabulary names the tokens.',
    ),
    chat_template: chat.chat_template,
    chat_template_kwargs: chat.chat_template_kwargs,
    mm_processor_kwargs: chat.mm_processor_kwargs,
    tools: chat.tools,
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
/** The request after parsing. */
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
    count: z.int().describe('How many tokens there are.'),
    max_model_len: z.int().describe('Most tokens of prompt and answer together.'),
    tokens: z.array(z.int()).describe('Their ids.'),
    token_strs: z
      .array(z.string())
      .nullable()
      .describe('Their texts in the vocabulary, when they were asked for.'),
  })
  .meta({ examples: [tokensExample] });
export type TokenizeResult = z.output<typeof tokenizeResult>;

export const tokenizeResultExamples = {
  valid: [tokensExample, { ...tokensExample, token_strs: ['The', 'Ġcapital'] }],
  invalid: [{ input: { ...tokensExample, tokens: 'x' }, type: 'list_type', loc: ['tokens'] }],
} as const;

/** Token ids to turn into text. */
export const detokenizeRequest = z.object({
  model: chat.model,
  tokens: tokenIdList().describe('The ids, in order.'),
});
/** The request after parsing. */
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
  .object({ prompt: z.string().describe('The text of the tokens, special ones included.') })
  .meta({ examples: [textExample] });
export type DetokenizeResult = z.output<typeof detokenizeResult>;

export const detokenizeResultExamples = {
  valid: [textExample],
  invalid: [{ input: {}, type: 'missing', loc: ['prompt'] }],
} as const;
