// Asks several questions at once and does not lose a search that is under way to a full queue.

import { EngineError } from '../errors.ts';

/** Where the refusal names no time. */
const RETRY_AFTER_MS = 100;

/**
 * The answers, in the order of the questions. Questions that found no room (`overloaded`) are asked again: at once
 * when another answer came meanwhile, as that made room, else after a pause. Without a `pause` they fail.
 * Throws: the first other failure, `overloaded` without a pause, what `pause` throws.
 */
export async function askAll<Question, Answer>(
  questions: readonly Question[],
  ask: (question: Question) => Promise<Answer>,
  pause: ((ms: number) => Promise<void>) | null,
): Promise<readonly Answer[]> {
  const answers = new Map<number, Answer>();
  let open = questions.map((question, index) => ({ question, index }));
  for (;;) {
    const results = await Promise.allSettled(open.map(({ question }) => ask(question)));
    const refused: typeof open = [];
    let pauseMs = RETRY_AFTER_MS;
    for (const [at, result] of results.entries()) {
      const asked = open[at]!;
      if (result.status === 'fulfilled') {
        answers.set(asked.index, result.value);
        continue;
      }
      const error: unknown = result.reason;
      if (pause === null || !(error instanceof EngineError) || error.code !== 'overloaded') throw error;
      pauseMs = error.retryAfterMs ?? pauseMs;
      refused.push(asked);
    }
    if (refused.length === 0) return questions.map((_, index) => answers.get(index)!);
    if (refused.length === open.length) await pause?.(pauseMs);
    open = refused;
  }
}
