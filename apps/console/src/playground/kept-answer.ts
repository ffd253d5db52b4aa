// An answer as feedback on it, and as a trajectory to train on. Pure.

import type { AnswerPhase } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { toMessages } from './requests.ts';

/** Type of the feedback that the playground sends. */
export const FEEDBACK_TYPE = 'console.rating';

interface Conversation {
  readonly system: string;
  /** From the first turn to the answer. */
  readonly turns: readonly Turn[];
}

/** With the calls of tools and their results, which are part of what the model is trained on. */
function messagesOf({ system, turns }: Conversation): ReturnType<typeof toMessages> {
  const rest = toMessages(turns);
  return system.trim() === '' ? rest : [{ role: 'system', content: system }, ...rest];
}

/** The body of a feedback, with the conversation that it is about. */
export function toFeedback(
  conversation: Conversation,
  { project, score, note }: { readonly project: string; readonly score: number; readonly note: string },
) {
  const answer = conversation.turns.at(-1)?.answer;
  return {
    project_id: project,
    weave_ref: `weave:///${project}/call/${answer?.responseId ?? ''}`,
    feedback_type: FEEDBACK_TYPE,
    payload: {
      score,
      ...(note !== '' && { note }),
      model: answer?.model ?? '',
      messages: messagesOf(conversation),
    },
  };
}

/** Why an answer ended that the model did not end, as the wire names it. */
const CUT_REASONS: Readonly<Partial<Record<AnswerPhase, string>>> = { stopped: 'abort', failed: 'error' };

/** One group with one trajectory: the messages before the answer, and the answer as a choice with its log probabilities. */
export function toTrajectoryGroups(conversation: Conversation, reward: number) {
  const answer = conversation.turns.at(-1)?.answer;
  const before = messagesOf({ ...conversation, turns: conversation.turns.slice(0, -1) });
  return [
    {
      trajectories: [
        {
          messages_and_choices: [...before, toChoice(conversation.turns.at(-1))],
          reward,
          metadata: { source: 'console', model: answer?.model ?? '' },
        },
      ],
    },
  ];
}

function toChoice(turn: Turn | undefined) {
  const answer = turn?.answer;
  const message = turn === undefined ? undefined : toMessages([turn])[0];
  const tokens = answer?.tokens ?? [];
  return {
    index: 0,
    finish_reason: answer?.finishReason ?? CUT_REASONS[answer?.phase ?? 'done'] ?? 'stop',
    message: message ?? { role: 'assistant', content: '' },
    ...(tokens.length > 0 && {
      logprobs: {
        content: tokens.map(({ text, logprob, candidates }) => ({
          token: text,
          logprob,
          bytes: [...new TextEncoder().encode(text)],
          top_logprobs: candidates.map(each => ({ token: each.text, logprob: each.logprob, bytes: null })),
        })),
      },
    }),
  };
}
