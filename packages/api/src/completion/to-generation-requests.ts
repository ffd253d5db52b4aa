// A completion request of the wire -> requests of the engine, one per prompt.

import type { GenerationRequest, LogprobsRequest, Prompt } from '@ortler/engine';
import type { CompletionRequest } from '@ortler/schemas';
import { toGenerationSettings } from '../chat/to-generation-request.ts';

/** Maps a validated request. Throws: `invalid_parameter` for a key of `logit_bias` that is not a token id. */
export function toGenerationRequests(
  request: CompletionRequest,
  cachePartition: string,
): GenerationRequest[] {
  const { logprobs, prompt } = request;
  const promptTopCount = request.prompt_logprobs ?? (request.echo ? logprobs : null);
  const shared = {
    ...toGenerationSettings(
      // The engine always generates; to echo the prompt alone, one token is generated and left out.
      { ...request, max_tokens: isEchoAlone(request) ? 1 : request.max_tokens },
      cachePartition,
    ),
    ...toLogprobs('logprobs', logprobs),
    ...toLogprobs('promptLogprobs', promptTopCount),
  };
  return prompt.map(entry => ({ ...shared, prompt: toPrompt(entry, request.add_special_tokens) }));
}

/** The answer is the prompt and nothing more. */
export function isEchoAlone({ echo, max_tokens }: Pick<CompletionRequest, 'echo' | 'max_tokens'>): boolean {
  return echo && max_tokens === 0;
}

function toPrompt(prompt: string | readonly number[], addSpecialTokens: boolean): Prompt {
  return typeof prompt === 'string' ? { text: prompt, addSpecialTokens } : { tokenIds: prompt };
}

function toLogprobs(
  field: 'logprobs' | 'promptLogprobs',
  topCount: number | null | undefined,
): { readonly [Field in typeof field]?: LogprobsRequest } {
  return topCount == null ? {} : { [field]: { topCount } };
}
