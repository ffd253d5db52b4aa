// Which models other servers answer for.

import type { ServedModel, UpstreamModel } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';

/** The servers that answer for a model; undefined: an engine of this server does. */
export function upstreamOf(model: ServedModel): UpstreamModel | undefined {
  if ('open' in model) return model.upstream;
  return model.status.kind === 'upstream' ? model.status.upstream : undefined;
}

/** The error of a request that needs an engine of this server. */
export function needsEngine(id: string): ApiError {
  return new ApiError(
    'invalid_parameter',
    `The model ${id} is answered by other servers, which have its tokenizer; this server passes on chats, completions and responses alone.`,
    { param: 'model' },
  );
}
