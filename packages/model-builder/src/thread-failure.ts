// The error of a build whose thread failed.

import { ModelBuildError } from './errors.ts';

/** @param cause What the thread threw. */
export function threadFailure(cause: NodeJS.ErrnoException): ModelBuildError {
  const isMissing = cause.code === 'MODULE_NOT_FOUND' || cause.code === 'ERR_MODULE_NOT_FOUND';
  const hint = '. A bundler must leave out this package and those that it depends on (`external`).';
  return new ModelBuildError('build_failed', `The build failed: ${cause.message}${isMissing ? hint : ''}`, {
    cause,
  });
}
