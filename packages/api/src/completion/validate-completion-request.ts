// Limits of this server and fields of completions that contradict each other. Rules of the body alone are in
// its schema, ranges of sampling and stop values in the engine, each once.

import type { CompletionRequest } from '@ortler/schemas';
import { checkRequestId, MAX_CHOICE_COUNT } from '../chat/validate-chat-request.ts';
import { ApiError } from '../trpc/errors.ts';

/** Throws: `invalid_parameter` or `unsupported_parameter`, naming the field. */
export function validateCompletionRequest(request: CompletionRequest): void {
  const { prompt, n, best_of, max_tokens, echo, suffix } = request;
  checkRequestId(request.request_id);
  if (suffix != null)
    throw new ApiError(
      'unsupported_parameter',
      'suffix is not supported: no model here fills in the middle.',
      {
        param: 'suffix',
      },
    );
  refuseIf(n < 1, 'n', `n must be 1 to ${MAX_CHOICE_COUNT}; got ${n}.`);
  const choiceCount = prompt.length * n;
  refuseIf(
    choiceCount > MAX_CHOICE_COUNT,
    prompt.length > MAX_CHOICE_COUNT ? 'prompt' : 'n',
    `prompts times n must be at most ${MAX_CHOICE_COUNT}; got ${prompt.length} times ${n}.`,
  );
  if (best_of != null && best_of !== n)
    throw new ApiError(
      'unsupported_parameter',
      `best_of is not supported: leave it out, or give it the value of n (${n}); got ${best_of}.`,
      { param: 'best_of' },
    );
  refuseIf(
    max_tokens === 0 && !echo,
    'max_tokens',
    'max_tokens must be at least 1; 0 is for echo: true alone.',
  );
}

function refuseIf(wrong: boolean, param: string, message: string): void {
  if (wrong) throw new ApiError('invalid_parameter', message, { param });
}
