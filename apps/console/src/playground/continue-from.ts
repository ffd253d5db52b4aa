// Going on from another candidate: the model gets the exact tokens before it, and the candidate, as token ids, so that nothing
// is tokenised a second time.

import type { ApiClient } from '../connection/api-client.ts';
import type { Answer, Beginning, Candidate, ShownToken } from './answer-reader.ts';

/** A place in an answer, and the token to take there. */
export interface Fork {
  readonly answer: Pick<Answer, 'promptTokenIds' | 'tokens' | 'reasoning'>;
  /** Index of the token that is replaced. */
  readonly index: number;
  readonly candidate: Candidate;
}

/** Largest difference of one log probability in two requests. Batches of other sizes may round differently. */
const LOGPROB_TOLERANCE = 1e-3;
/** Maximum number of candidates that the server lists. */
const MAX_CANDIDATES = 20;

/** Whether all ids before the token are known. */
export function canForkAt(
  { promptTokenIds, tokens }: Omit<Fork['answer'], 'reasoning'>,
  index: number,
): boolean {
  return promptTokenIds.length > 0 && tokens.slice(0, index).every(({ id }) => id !== null);
}

/** The tokens before the fork, as ids: prompt and answer. */
export function contextOf({ answer: { promptTokenIds, tokens }, index }: Omit<Fork, 'candidate'>): number[] {
  return [...promptTokenIds, ...tokens.slice(0, index).flatMap(({ id }) => (id === null ? [] : [id]))];
}

/**
 * The id of a candidate. Answers list candidates by their text, which several tokens may share, so the server is asked
 * for the ids at this place, and the log probability tells which one it is.
 */
export async function findCandidateId(
  client: ApiClient,
  model: string,
  { answer, index, candidate }: Fork,
  signal: AbortSignal,
): Promise<number> {
  if (candidate.id !== undefined) return candidate.id;
  const taken = answer.tokens[index];
  if (taken?.id != null && taken.text === candidate.text && taken.logprob === candidate.logprob)
    return taken.id;
  const prompt = contextOf({ answer, index });
  const { choices } = await client.completions.complete.mutate(
    {
      model,
      prompt,
      max_tokens: 1,
      temperature: 0,
      logprobs: MAX_CANDIDATES,
      return_tokens_as_token_ids: true,
    },
    { signal },
  );
  const id = closestId(choices[0]?.logprobs?.top_logprobs[0] ?? {}, candidate.logprob);
  if (id === null) throw new Error('The server no longer lists this candidate here.');
  return id;
}

/** The `token_id:<id>` whose log probability is that one; null where none is near. */
export function closestId(listed: Readonly<Record<string, number>>, logprob: number): number | null {
  const found = Object.entries(listed)
    .map(([name, value]) => ({ name, distance: Math.abs(value - logprob) }))
    .sort((left, right) => left.distance - right.distance)[0];
  if (found === undefined || found.distance > LOGPROB_TOLERANCE) return null;
  const id = /^token_id:(\d+)$/.exec(found.name)?.[1];
  return id === undefined ? null : Number(id);
}

/** What is kept of the answer, and the candidate after it. */
export function beginningOf({ answer, index, candidate }: Fork, candidateId: number): Beginning {
  const replaced = answer.tokens[index];
  const token: ShownToken = {
    ...candidate,
    id: candidateId,
    part: replaced?.part === 'reasoning' ? 'reasoning' : 'answer',
    candidates: replaced?.candidates ?? [],
  };
  const tokens = [...answer.tokens.slice(0, index), token];
  const textOf = (part: ShownToken['part']) =>
    tokens.flatMap(each => (each.part === part ? [each.text] : [])).join('');
  return {
    // From within its reasoning the rest comes as one text, because only chats tell the two apart.
    content: token.part === 'reasoning' ? textOf('reasoning') : textOf('answer'),
    reasoning: token.part === 'reasoning' ? '' : answer.reasoning,
    promptTokenIds: answer.promptTokenIds,
    tokens,
  };
}

/** The tokens that the model gets: prompt, kept tokens and candidate. */
export function promptOf({ promptTokenIds, tokens }: Beginning): number[] {
  return contextOf({ answer: { promptTokenIds, tokens, reasoning: '' }, index: tokens.length });
}
