// A conversation as a tree: editing a message or asking again adds a branch beside the old one, and nothing is lost. Pure.

import { type Answer, EMPTY_ANSWER } from './answer-reader.ts';

export interface Turn {
  readonly id: string;
  /** Null for the first turn of a branch. */
  readonly parentId: string | null;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** Of answers of the model. */
  readonly answer?: Answer;
  /** Of results of a tool. */
  readonly toolCallId?: string;
}

export interface Conversation {
  /** In the order in which they were added. */
  readonly turns: readonly Turn[];
  /** Last turn of the branch that is shown; null: none yet. */
  readonly leafId: string | null;
}

export const EMPTY_CONVERSATION: Conversation = { turns: [], leafId: null };

/** Whether an answer failed or was stopped before anything came. A model may also end at once, which is an answer. */
export function isUnanswered({ content, answer }: Turn): boolean {
  if (answer === undefined || (answer.phase !== 'failed' && answer.phase !== 'stopped')) return false;
  return content === '' && answer.reasoning === '' && answer.toolCalls.length === 0;
}

/** The turns from the first one to `leafId`. */
export function pathTo(turns: readonly Turn[], leafId: string | null): readonly Turn[] {
  const byId = new Map(turns.map(turn => [turn.id, turn]));
  const path: Turn[] = [];
  for (let turn = byId.get(leafId ?? ''); turn !== undefined; turn = byId.get(turn.parentId ?? ''))
    path.push(turn);
  return path.reverse();
}

/** The branch that is shown. */
export function shownTurns({ turns, leafId }: Conversation): readonly Turn[] {
  return pathTo(turns, leafId);
}

/** Adds a turn and shows its branch. */
export function addTurn({ turns }: Conversation, turn: Turn): Conversation {
  return { turns: [...turns, turn], leafId: turn.id };
}

/** Adds empty answers of the model as branches, and shows the first. */
export function addAnswers(
  { turns }: Conversation,
  parentId: string | null,
  ids: readonly string[],
): Conversation {
  const answers = ids.map(
    (id): Turn => ({ id, parentId, role: 'assistant', content: '', answer: EMPTY_ANSWER }),
  );
  return { turns: [...turns, ...answers], leafId: ids[0] ?? parentId };
}

/** Replaces the answers of these turns, as they stream. */
export function setAnswers(
  conversation: Conversation,
  ids: readonly string[],
  answers: readonly Answer[],
): Conversation {
  const turns = conversation.turns.map(turn => {
    const answer = answers[ids.indexOf(turn.id)];
    return answer === undefined ? turn : { ...turn, answer, content: answer.content };
  });
  return { ...conversation, turns };
}

/** The turns beside each other, by their parent: edits of a message, answers to it. */
export function siblingGroups({ turns }: Conversation): ReadonlyMap<string | null, readonly Turn[]> {
  return Map.groupBy(turns, ({ parentId }) => parentId);
}

/** Shows the branch of this turn: on from it along the newest turns. */
export function showBranch({ turns }: Conversation, id: string): Conversation {
  let leafId = id;
  for (;;) {
    const next = turns.findLast(({ parentId }) => parentId === leafId);
    if (next === undefined) return { turns, leafId };
    leafId = next.id;
  }
}

/** Removes a turn with all that follows it, and shows what is beside or before it. */
export function removeTurn(conversation: Conversation, id: string): Conversation {
  const removed = new Set([id]);
  for (const turn of conversation.turns) if (removed.has(turn.parentId ?? '')) removed.add(turn.id);
  const target = conversation.turns.find(turn => turn.id === id);
  const turns = conversation.turns.filter(turn => !removed.has(turn.id));
  if (target === undefined || !removed.has(conversation.leafId ?? '')) return { ...conversation, turns };
  const beside = turns.findLast(({ parentId }) => parentId === target.parentId);
  const kept = { turns, leafId: target.parentId };
  return beside === undefined ? kept : showBranch(kept, beside.id);
}
