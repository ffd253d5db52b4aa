// The refusal of a prompt that does not fit the context. Callers: everything that learns the length of a prompt.

import { EngineError } from '../errors.ts';

/** Unit of all lengths: tokens. */
export interface RequestedLengths {
  readonly contextLength: number;
  readonly promptLength: number;
  /** True: the prompt has this many tokens or more, because its text was too long to be encoded. */
  readonly isLeast?: boolean;
  /** The requested limit of the completion. Default: none was requested. */
  readonly maxTokens?: number | undefined;
}

/**
 * The `prompt_too_long` error. Clients find out by its message that a shorter prompt would be answered, so it begins as
 * that of OpenAI does. Source: the checks of litellm and LangChain.
 */
export function promptTooLong(lengths: RequestedLengths): EngineError {
  const { contextLength, promptLength, isLeast = false, maxTokens } = lengths;
  const isExact = !isLeast && maxTokens !== undefined;
  const total = `${isExact ? '' : 'at least '}${promptLength + (maxTokens ?? 1)} tokens`;
  const prompt = `${isLeast ? 'at least ' : ''}${promptLength} in the prompt`;
  const completion = `${maxTokens === undefined ? 'at least 1' : maxTokens} in the completion`;
  return new EngineError(
    'prompt_too_long',
    `This model's maximum context length is ${contextLength} tokens. However, you requested ${total} (${prompt}, ${completion}).`,
    { parameter: 'prompt' },
  );
}
