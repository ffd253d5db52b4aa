// What a call of a model may say beside its messages, in one flat object, and the engine's request for it.

import type { ChatMessage, ChatTemplateOptions, GenerationRequest, SamplingParams } from '@ortler/engine';

/** A question, or a conversation whose last message is to be answered. */
export type Messages = string | readonly ChatMessage[];

export interface GenerateOptions
  extends Partial<SamplingParams>,
    Pick<
      GenerationRequest,
      | 'badWords'
      | 'cachePartition'
      | 'constraint'
      | 'logprobs'
      | 'priority'
      | 'promptLogprobs'
      | 'repetitionDetection'
      | 'truncatePromptTokens'
    > {
  /** Most tokens of the answer, reasoning included. Default: what the context and generation_config.json leave. */
  readonly maxTokens?: number;
  /** Tokens before which nothing ends the answer. Default: 0. */
  readonly minTokens?: number;
  /** Texts that end the answer and are cut off. */
  readonly stop?: string | readonly string[];
  /** Ids of tokens that end the answer, beside the model's own. */
  readonly stopTokenIds?: readonly number[];
  /** How messages become a prompt: tools, a template of your own, variables such as `enable_thinking`. */
  readonly template?: ChatTemplateOptions;
  /** Aborts the generation within a step. */
  readonly signal?: AbortSignal;
}

/** Shape of the request that the engine takes; `signal` goes beside it. */
export function toGenerationRequest(
  messages: Messages,
  { maxTokens, minTokens, stop, stopTokenIds, template, ...others }: Omit<GenerateOptions, 'signal'>,
): GenerationRequest {
  const { badWords, cachePartition, constraint, logprobs, priority, promptLogprobs, ...rest } = others;
  const { repetitionDetection, truncatePromptTokens, ...sampling } = rest;
  const conversation = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  const stopStrings = typeof stop === 'string' ? [stop] : stop;
  return {
    prompt: { messages: conversation, ...definedOnly({ template }) },
    sampling: definedOnly(sampling),
    stop: definedOnly({ maxTokens, minTokens, strings: stopStrings, tokenIds: stopTokenIds }),
    ...definedOnly({
      badWords,
      cachePartition,
      constraint,
      logprobs,
      priority,
      promptLogprobs,
      repetitionDetection,
      truncatePromptTokens,
    }),
  };
}

type Defined<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };

/** The fields that have a value: an option that is undefined counts as not given. */
function definedOnly<Fields extends object>(fields: Fields): Partial<Defined<Fields>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Defined<Fields>
  >;
}
