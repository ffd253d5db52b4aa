// One answer of an engine to a message at temperature 0.

import type { ConstraintSpec, Engine, TokenLogprob } from '@ortler/engine';

export interface Answer {
  readonly tokenIds: readonly number[];
  readonly text: string;
  /** The model or the constraint ended the answer, not the limit of its length. */
  readonly ended: boolean;
  /** How far the best candidate of each position is above the second best. Unit: natural logarithm. */
  readonly gaps: readonly number[];
}

export interface AnswerSettings {
  readonly maxTokens: number;
  readonly constraint?: ConstraintSpec;
}

/** Throws: as `Engine.generate`. */
export async function answer(
  engine: Engine,
  content: string,
  { maxTokens, constraint }: AnswerSettings,
): Promise<Answer> {
  const tokenIds: number[] = [];
  const logprobs: TokenLogprob[] = [];
  let text = '';
  let ended = false;
  const events = engine.generate({
    prompt: engine.info.chatTemplate === null ? content : { messages: [{ role: 'user', content }] },
    sampling: { temperature: 0 },
    stop: { maxTokens },
    logprobs: { topCount: 2 },
    ...(constraint === undefined ? {} : { constraint }),
  });
  for await (const event of events) {
    if (event.kind !== 'token-delta') continue;
    tokenIds.push(...event.tokenIds);
    logprobs.push(...(event.logprobs ?? []));
    text += event.text;
    if (event.finish?.reason === 'stop') ended = true;
  }
  const gaps = logprobs.map(({ top: [best, second] }) => best!.logprob - second!.logprob);
  return { tokenIds, text, ended, gaps };
}
