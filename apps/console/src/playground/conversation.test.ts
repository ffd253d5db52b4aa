import { describe, expect, it } from 'vitest';
import { EMPTY_ANSWER } from './answer-reader.ts';
import {
  addAnswers,
  addTurn,
  type Conversation,
  EMPTY_CONVERSATION,
  removeTurn,
  setAnswers,
  showBranch,
  shownTurns,
  siblingGroups,
  type Turn,
} from './conversation.ts';

const turn = (id: string, parentId: string | null): Turn => ({
  id,
  parentId,
  role: id.startsWith('u') ? 'user' : 'assistant',
  content: id,
});
const build = (...turns: Turn[]): Conversation => turns.reduce(addTurn, EMPTY_CONVERSATION);
const shown = (conversation: Conversation) => shownTurns(conversation).map(({ id }) => id);

const tree = build(turn('u1', null), turn('a1', 'u1'), turn('u2', 'a1'), turn('a2', 'u2'), turn('a1b', 'u1'));

describe('a conversation', () => {
  it('shows the branch of the turn that was added last', () => {
    expect(shown(tree)).toEqual(['u1', 'a1b']);
  });

  it('shows another branch to its newest end', () => {
    expect(shown(showBranch(tree, 'a1'))).toEqual(['u1', 'a1', 'u2', 'a2']);
  });

  it('lists the answers beside each other in order', () => {
    expect(
      siblingGroups(tree)
        .get('u1')
        ?.map(({ id }) => id),
    ).toEqual(['a1', 'a1b']);
  });

  it('takes several answers as branches, and shows the first', () => {
    const asked = addAnswers(build(turn('u1', null)), 'u1', ['a1', 'a2']);
    expect(shown(asked)).toEqual(['u1', 'a1']);
    const answers = ['one', 'two'].map(content => ({ ...EMPTY_ANSWER, content }));
    const answered = setAnswers(asked, ['a1', 'a2'], answers);
    expect(
      siblingGroups(answered)
        .get('u1')
        ?.map(({ content }) => content),
    ).toEqual(['one', 'two']);
    expect(answered.turns[0]).toEqual(turn('u1', null));
  });

  it('removes a turn with what follows, and shows the branch beside it', () => {
    const rest = removeTurn(showBranch(tree, 'a2'), 'a1');
    expect(rest.turns.map(({ id }) => id)).toEqual(['u1', 'a1b']);
    expect(shown(rest)).toEqual(['u1', 'a1b']);
  });

  it('keeps the shown branch when another one is removed', () => {
    expect(shown(removeTurn(tree, 'u2'))).toEqual(['u1', 'a1b']);
  });

  it('is empty again when its first turn is removed', () => {
    expect(removeTurn(tree, 'u1')).toEqual(EMPTY_CONVERSATION);
  });
});
