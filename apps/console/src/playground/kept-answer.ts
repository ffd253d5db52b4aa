// An answer as feedback on it, and as a trajectory to train on. Pure.

import type { Answer } from './answer-reader.ts';
import type { Turn } from './conversation.ts';

/** Type of the feedback that the playground sends. */
export const FEEDBACK_TYPE = 'console.rating';

interface Conversation {
  readonly system: string;
  /** From the first turn to the answer. */
  readonly turns: readonly Turn[];
}

// Not an interface: the wire format takes messages with any other keys.
type Message = {
  readonly role: string;
  readonly content: string;
};

function toMessages({ system, turns }: Conversation): readonly Message[] {
  const rest = turns.map(({ role, content }) => ({ role, content }));
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
      messages: toMessages(conversation),
    },
  };
}

/** One group with one trajectory: the messages before the answer, and the answer as a choice with its log probabilities. */
export function toTrajectoryGroups(conversation: Conversation, reward: number) {
  const answer = conversation.turns.at(-1)?.answer;
  const messages = toMessages(conversation);
  return [
    {
      trajectories: [
        {
          messages_and_choices: [...messages.slice(0, -1), toChoice(messages.at(-1), answer)],
          reward,
          metadata: { source: 'console', model: answer?.model ?? '' },
        },
      ],
    },
  ];
}

function toChoice(message: Message | undefined, answer: Answer | undefined) {
  const tokens = answer?.tokens ?? [];
  return {
    index: 0,
    finish_reason: answer?.finishReason ?? 'stop',
    message: { role: 'assistant', content: message?.content ?? '' },
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
