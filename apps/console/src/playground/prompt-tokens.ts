// The tokens of a prompt with their log probabilities, from the prompt log probabilities of the api.

import type { CompletionRequestInput, PromptLogprobs } from '@ortler/schemas';
import type { ApiClient } from '../connection/api-client.ts';
import type { Candidate, ShownToken } from './answer-reader.ts';
import { readParameters } from './parameters.ts';
import type { Settings } from './saved-playground.ts';

/** A text and its tokens, as if they were an answer to nothing, so that one can go on from any of them. */
export interface PromptTokens {
  readonly prompt: string | readonly number[];
  readonly model: string;
  readonly reasoning: '';
  readonly promptTokenIds: readonly number[];
  readonly tokens: readonly ShownToken[];
}

/** Asks the server. Nothing is generated but the one token that a completion has at least. */
export async function readPromptTokens(
  client: ApiClient,
  settings: Pick<Settings, 'model' | 'candidateCount' | 'parameters'>,
  prompt: string | readonly number[],
): Promise<PromptTokens> {
  const { add_special_tokens } = readParameters(settings.parameters, 'completion').fields;
  const request: CompletionRequestInput = {
    ...(settings.model !== '' && { model: settings.model }),
    prompt: typeof prompt === 'string' ? prompt : [...prompt],
    max_tokens: 1,
    temperature: 0,
    prompt_logprobs: settings.candidateCount,
    return_token_ids: true,
    ...(typeof add_special_tokens === 'boolean' && { add_special_tokens }),
  };
  const completion = await client.completions.complete.mutate(request);
  const choice = completion.choices[0];
  const ids = choice?.prompt_token_ids ?? [];
  const listed = choice?.prompt_logprobs ?? [];
  const first =
    typeof prompt === 'string'
      ? await client.tokenizer.decode.query({ model: completion.model, tokens: ids.slice(0, 1) })
      : null;
  const tokens = toShownTokens(ids, listed, first?.prompt ?? '');
  return { prompt, model: completion.model, reasoning: '', promptTokenIds: [], tokens };
}

/** @param firstText Text of the first token, which has no log probability and so no entry. */
export function toShownTokens(
  ids: readonly number[],
  listed: readonly (PromptLogprobs | null)[],
  firstText: string,
): ShownToken[] {
  return ids.map((id, index) => {
    const entry = listed[index]?.[id];
    if (entry === undefined) return { id, text: firstText, logprob: 0, part: 'prompt', candidates: [] };
    const ranked = Object.entries(listed[index] ?? {})
      .map(([candidateId, { decoded_token, logprob, rank }]) => ({
        id: Number(candidateId),
        text: decoded_token,
        logprob,
        rank,
      }))
      .sort((left, right) => left.rank - right.rank);
    const own = ranked.filter(candidate => candidate.id === id);
    const candidates: readonly Candidate[] = [...own, ...ranked.filter(candidate => candidate.id !== id)];
    return { id, text: entry.decoded_token, logprob: entry.logprob, part: 'prompt', candidates };
  });
}
