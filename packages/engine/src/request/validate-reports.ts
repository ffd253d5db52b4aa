// Validates requests for log probabilities, beam search and repetition detection.

import type { BeamSearch, LogprobsRequest, RepetitionDetection } from './generation-request.ts';
import { checkCount, wrongParameter } from './parameter-checks.ts';

/** Maximum number of candidates that are reported at one position. Source: the default of vLLM. */
const TOP_LOGPROBS_LIMIT = 20;

/** A step of the search considers twice as many candidates as there are beams. */
const BEAM_WIDTH_LIMIT = TOP_LOGPROBS_LIMIT / 2;

/** Throws: `invalid_request`. */
export function validateLogprobs(path: 'logprobs' | 'promptLogprobs', { topCount }: LogprobsRequest): void {
  checkCount(`${path}.topCount`, topCount, 0, TOP_LOGPROBS_LIMIT);
}

/** Throws: `invalid_request`. */
export function validateBeamSearch({ width, lengthPenalty }: BeamSearch): void {
  checkCount('beamSearch.width', width, 1, BEAM_WIDTH_LIMIT);
  if (Number.isFinite(lengthPenalty)) return;
  const path = 'beamSearch.lengthPenalty';
  throw wrongParameter(path, `${path} must be a finite number; got ${lengthPenalty}.`);
}

/** The settings, or undefined when they are off. Throws: `invalid_request`. */
export function validateRepetitionDetection(
  settings: RepetitionDetection | undefined,
): RepetitionDetection | undefined {
  if (settings === undefined) return undefined;
  const { minPatternSize, maxPatternSize, minCount } = settings;
  for (const field of ['minPatternSize', 'maxPatternSize', 'minCount'] as const) {
    checkCount(`repetitionDetection.${field}`, settings[field], 0, Number.MAX_SAFE_INTEGER);
  }
  if (minPatternSize > maxPatternSize) {
    const path = 'repetitionDetection.minPatternSize';
    const problem = `${path} must be at most repetitionDetection.maxPatternSize (${maxPatternSize}); got ${minPatternSize}.`;
    throw wrongParameter(path, problem);
  }
  if (maxPatternSize === 0) return undefined;
  if (minCount < 2) {
    const path = 'repetitionDetection.minCount';
    const problem = `${path} must be at least 2 when repetitionDetection.maxPatternSize is above 0; got ${minCount}.`;
    throw wrongParameter(path, problem);
  }
  return settings;
}
