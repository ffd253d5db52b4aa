// Decodes token ids to text, including special tokens.

import type { DetokenizeRequest, DetokenizeResult } from '@ortler/schemas';
import { findModel, withEngine } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';
import type { CallerContext } from '../trpc/trpc.ts';

/** Throws: `invalid_parameter` for the first id outside the vocabulary. */
export async function detokenize(
  services: Services,
  { model, tokens }: DetokenizeRequest,
  { principal, signal }: Pick<CallerContext, 'principal' | 'signal'>,
): Promise<DetokenizeResult> {
  return withEngine(await findModel(services, principal, model), signal, async engine => {
    const { vocabSize } = engine.info;
    const wrong = tokens.findIndex(id => id < 0 || id >= vocabSize);
    if (wrong !== -1)
      throw new ApiError(
        'invalid_parameter',
        `tokens[${wrong}] must be a token id from 0 to ${vocabSize - 1}; got ${tokens[wrong]}.`,
        { param: 'tokens' },
      );
    return { prompt: engine.decode(tokens) };
  });
}
